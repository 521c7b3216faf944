#include "bench/input.h"

#include <algorithm>
#include <map>
#include <optional>
#include <thread>

#include "bench/strategy.h"
#include "data/augment.h"
#include "data/cifar/cifar10.h"
#include "data/imagenet/imagenet_dataset.h"
#include "data/imagenet/kept_images.h"
#include "data/imagenet/open_images.h"
#include "data/imagenet/reading_order.h"
#include "data/normalize.h"
#include "muster/models.h"

namespace muster::bench {
namespace {

constexpr char kFlag[] = "--data_dir";
constexpr int kCifarPadding = 4;  // of 32 pixels to 40, from which a part is cut out

std::optional<data::ResizeMethod> ResizeMethodOf(const std::string& name) {
  static const std::map<std::string, data::ResizeMethod> methods = {{"nearest", data::ResizeMethod::kNearest},
                                                                    {"bilinear", data::ResizeMethod::kBilinear},
                                                                    {"bicubic", data::ResizeMethod::kBicubic},
                                                                    {"area", data::ResizeMethod::kArea}};
  const auto found = methods.find(name);
  return found == methods.end() ? std::nullopt : std::optional(found->second);  // round_robin: none
}

uint64_t SeedOf(const BenchParams& params) { return static_cast<uint64_t>(params.tf_random_seed); }

// The model garden's preprocessing (official/r1/resnet/imagenet_preprocessing.py) has neither colours nor a choice of
// resizing. It respects boxes, subtracts the channels' means and does not scale.
data::PreprocessOptions PreprocessOf(const BenchParams& params, const Derived& derived, data::Subset subset) {
  const bool official = params.input_preprocessor == "official_models_imagenet";
  data::PreprocessOptions options;
  options.size = static_cast<int>(FindModel(derived.model.name, derived.dataset.name).image_size);
  options.train = subset == data::Subset::kTrain;
  options.distortions = params.distortions && !official;
  options.distort_color_in_yiq = params.distort_color_in_yiq;
  options.fuse_decode_and_crop = params.fuse_decode_and_crop || official;
  options.resize_method = official ? data::ResizeMethod::kBilinear : ResizeMethodOf(params.resize_method);
  options.subtract_means = params.ml_perf || official;
  options.ignore_boxes = params.ml_perf;
  options.official_models = official;
  if (!options.train) options.batch_size = derived.eval_batch_size;
  options.seed = SeedOf(params);
  return options;
}

std::unique_ptr<data::Dataset> OpenImagenet(const BenchParams& params, const Derived& derived, data::Subset subset,
                                            int num_classes) {
  constexpr int64_t kFilesInTurn = 10;  // tf_cnn_benchmarks' default
  auto images = data::OpenImages(*params.data_dir, subset, num_classes, kFlag);
  if (subset == data::Subset::kValidation)
    images = data::InEvaluationOrder(std::move(images), params.datasets_parallel_interleave_cycle_length.value_or(0) > 0
                                                            ? *params.datasets_parallel_interleave_cycle_length
                                                            : kFilesInTurn);
  if (params.datasets_repeat_cached_sample) images = data::RepeatFirstImage(std::move(images));
  else if (params.datasets_use_caching) images = data::KeepImages(std::move(images));
  return data::MakeImagenetDataset(std::move(images), num_classes, PreprocessOf(params, derived, subset));
}

// From -1 to 1 after the padding, whose zeros are black, as in tf_cnn_benchmarks (normalized_image in
// preprocessing.py).
std::unique_ptr<data::Dataset> OpenCifar10(const BenchParams& params, data::Subset subset, int num_classes) {
  auto images = data::ReadCifar10(*params.data_dir, subset, num_classes, kFlag);
  const data::AugmentOptions augment{.flip = true, .max_shift = kCifarPadding, .seed = SeedOf(params)};
  if (params.distortions && subset == data::Subset::kTrain) images = data::Augment(std::move(images), augment);
  const data::Normalization scale{std::vector<float>(3, 127.5f), std::vector<float>(3, 1 / 127.5f)};
  return data::Normalize(std::move(images), scale);
}

}  // namespace

std::unique_ptr<data::Dataset> OpenInput(const BenchParams& params, const Derived& derived, data::Subset subset) {
  const int num_classes = FindDataset(derived.dataset.name).num_classes;
  if (derived.dataset.name == "cifar10") return OpenCifar10(params, subset, num_classes);
  return OpenImagenet(params, derived, subset, num_classes);
}

std::vector<std::string> MissingInputNotes(const BenchParams& params, const Derived& derived, data::Subset subset) {
  std::vector<std::string> notes = derived.dataset.name == "cifar10"
                                       ? data::MissingCifar10Files(*params.data_dir, subset)
                                       : data::MissingImageFiles(*params.data_dir, subset);
  for (std::string& note : notes) note += "; the run goes on with those that are there";
  return notes;
}

// A CPU that computes needs its cores itself; and a core prepares far more images than it trains on.
int InputThreads(const BenchParams& params, const Derived& derived) {
  if (!params.datasets_use_prefetch) return 0;
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto asked = static_cast<int>(std::min<int64_t>(params.datasets_num_private_threads.value_or(-1), 1024));
  if (asked >= 0) return asked == 0 ? cores : asked;
  if (IsOnCpus(params)) return std::max(1, cores / 8);
  const int per_gpu =
      params.per_gpu_thread_count > 0 ? static_cast<int>(std::min<int64_t>(params.per_gpu_thread_count, 1024)) : 2;
  return std::max(1, cores - (per_gpu + 2) * static_cast<int>(derived.num_devices));
}

data::Prefetcher::Options PrefetchOptions(const BenchParams& params, const Derived& derived, int64_t first) {
  const auto buffered = static_cast<int>(std::clamp<int64_t>(params.multi_device_iterator_max_buffer_size, 1, 64));
  return {.threads = InputThreads(params, derived), .depth = buffered + 2, .first = first};
}

std::vector<Tensor> FeedsOfTowers(const data::Batch& batch, int64_t num_towers) {
  std::vector<Tensor> feeds;
  const int64_t rows = batch.labels.shape()[0] / num_towers;
  for (int64_t tower = 0; tower < num_towers; ++tower) {
    feeds.push_back(batch.ImageRows(tower * rows, (tower + 1) * rows));
    feeds.push_back(batch.LabelRows(tower * rows, (tower + 1) * rows));
  }
  return feeds;
}

TrainInput::TrainInput(const BenchParams& params, const Derived& derived)
    : params_(params),
      derived_(derived),
      dataset_(OpenInput(params, derived, data::Subset::kTrain)),
      batches_(*dataset_, derived.batch_size, SeedOf(params),
               {params.job_name.empty() ? 0 : params.task_index, derived.num_workers}) {}

void TrainInput::StartAt(int64_t first) {
  prefetcher_ = std::make_unique<data::Prefetcher>(batches_, PrefetchOptions(params_, derived_, first));
}

std::vector<Tensor> TrainInput::BatchAt(int64_t step) {
  single_ = batches_.Allocate();
  batches_.Fill(step, &single_);
  return FeedsOfTowers(single_, derived_.num_devices);
}

std::vector<Tensor> TrainInput::Next() { return FeedsOfTowers(*prefetcher_->Next(), derived_.num_devices); }

}  // namespace muster::bench
