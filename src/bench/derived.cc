#include "bench/derived.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/peer_models.h"
#include "muster/error.h"

namespace muster::bench {

const char* ModeName(Mode mode) {
  switch (mode) {
    case Mode::kTraining: return "training";
    case Mode::kEvaluation: return "evaluation";
    case Mode::kTrainingAndEvaluation: return "training + evaluation";
    case Mode::kForwardOnly: return "forward only";
  }
  return "unknown";
}

Mode ModeOf(const BenchParams& params) {
  if (params.eval) return Mode::kEvaluation;
  if (params.forward_only) return Mode::kForwardOnly;
  const bool evaluates = params.eval_during_training_every_n_steps.value_or(0) != 0 ||
                         params.eval_during_training_every_n_epochs.value_or(0) != 0 ||
                         !params.eval_during_training_at_specified_steps.empty() ||
                         !params.eval_during_training_at_specified_epochs.empty();
  return evaluates ? Mode::kTrainingAndEvaluation : Mode::kTraining;
}

Amount AmountOfWork(std::optional<int64_t> num_batches, std::optional<double> num_epochs, int64_t images_per_step,
                    int64_t images_per_epoch, const char* epochs_flag) {
  constexpr int64_t kDefaultBatches = 100;
  if (num_batches.value_or(0) != 0 && num_epochs.value_or(0) != 0) {
    throw InvalidArgument("At most one of --num_batches and --num_epochs may be specified.");
  }
  const double epoch = static_cast<double>(images_per_epoch), step = static_cast<double>(images_per_step);
  int64_t batches = num_batches.value_or(0) != 0 ? *num_batches : kDefaultBatches;
  if (num_epochs.value_or(0) != 0) {
    // Truncated before the division, as the peer does: a fraction of an image is no image.
    const double images = std::min(std::trunc(*num_epochs * epoch + step - 1), 9e18);
    batches = static_cast<int64_t>(images) / images_per_step;
    if (batches < 1)
      throw InvalidArgument(fmt::format("flag --{}={}: of {} images that is less than one, so no step is left",
                                        epochs_flag, *num_epochs, images_per_epoch));
  }
  return {batches, static_cast<double>(batches) * step / epoch};
}

int64_t WarmupBatches(const BenchParams& params) {
  if (params.num_warmup_batches) return *params.num_warmup_batches;
  const int64_t threshold = params.autotune_threshold.value_or(0) != 0 ? *params.autotune_threshold : 1;
  return std::max<int64_t>(10, 5 * threshold * threshold);
}

int64_t RoundUpWarmup(int64_t warmup_batches, int64_t batch_group_size) {
  // The first step of all uses a group's first batch, so warm-up less one has to be a multiple.
  const int64_t groups = (warmup_batches - 1 + batch_group_size - 1) / batch_group_size;
  return groups * batch_group_size + 1;
}

std::string DatasetNamedBy(const std::string& folder) {
  for (const char* name : {"imagenet", "cifar10", "librispeech", "coco"})
    if (folder.find(name) != std::string::npos) return name;
  return "";
}

namespace {

std::string DatasetName(const BenchParams& params) {
  if (params.data_name && !params.data_name->empty()) return *params.data_name;
  const std::string folder = params.data_dir.value_or("");
  if (folder.empty()) return "imagenet";
  const std::string name = DatasetNamedBy(folder);
  if (name.empty())
    throw InvalidArgument(
        fmt::format("the name of folder --data_dir={} holds no data set's name: add --data_name", folder));
  return name;
}

// The flags of training count where those of evaluations are not given.
Amount EvaluationAmount(const BenchParams& params, const Derived& derived) {
  const bool own = params.num_eval_batches || params.num_eval_epochs;
  return AmountOfWork(own ? params.num_eval_batches : params.num_batches,
                      own ? params.num_eval_epochs : params.num_epochs, derived.eval_batch_size,
                      derived.dataset.validation_images, params.num_eval_epochs ? "num_eval_epochs" : "num_epochs");
}

int64_t NumWorkers(const BenchParams& params) {
  if (params.job_name.empty()) return 1;
  return std::count(params.worker_hosts.begin(), params.worker_hosts.end(), ',') + 1;
}

}  // namespace

Derived Derive(const BenchParams& params) {
  Derived derived;
  derived.mode = ModeOf(params);
  derived.dataset = FindBenchDataset(DatasetName(params));
  derived.model = FindBenchModel(params.model, derived.dataset.name);
  derived.synthetic = params.data_dir.value_or("").empty();
  derived.num_devices = params.num_gpus;
  derived.num_workers = NumWorkers(params);
  derived.batch_size_per_device = params.batch_size > 0 ? params.batch_size : derived.model.default_batch_size;
  derived.batch_size = derived.batch_size_per_device * derived.num_devices;
  derived.eval_batch_size_per_device =
      params.eval_batch_size > 0 ? params.eval_batch_size : derived.batch_size_per_device;
  derived.eval_batch_size = derived.eval_batch_size_per_device * derived.num_devices;
  const bool only_evaluates = derived.mode == Mode::kEvaluation;
  if (only_evaluates) {
    derived.batch_size_per_device = derived.eval_batch_size_per_device;
    derived.batch_size = derived.eval_batch_size;
  }
  const Amount evaluation = derived.evaluates() ? EvaluationAmount(params, derived) : Amount{};
  const Amount amount = only_evaluates ? evaluation
                                       : AmountOfWork(params.num_batches, params.num_epochs,
                                                      derived.global_batch_size(), derived.dataset.train_images);
  derived.num_batches = amount.num_batches;
  derived.num_epochs = amount.num_epochs;
  derived.num_eval_batches = evaluation.num_batches;
  derived.num_warmup_batches = WarmupBatches(params);
  for (int64_t i = 0; i < derived.num_devices; ++i) {
    const std::string task =
        params.job_name.empty() ? "" : fmt::format("/job:worker/replica:0/task:{}", params.task_index);
    derived.devices.push_back(fmt::format("{}/{}:{}", task, params.device, i));
  }
  return derived;
}

}  // namespace muster::bench
