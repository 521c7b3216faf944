#include "bench/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/derived.h"
#include "bench/eval_schedule.h"
#include "bench/param_table.h"
#include "muster/error.h"
#include "muster/exchange.h"

namespace muster::bench {
namespace {

using P = BenchParams;

// Reads better than an "if" for a list of rules.
void Refuse(bool wrong, const std::string& message) {
  if (wrong) throw InvalidArgument(message);
}

bool Set(const std::optional<std::string>& text) { return text && !text->empty(); }
bool Contains(const std::optional<std::string>& text, const char* part) {
  return text && text->find(part) != std::string::npos;
}

void CheckFieldBounds(const P& p) {
  for (const ParamField& field : BenchParamTable().fields()) {
    const FlagValue value = GetParam(p, field);
    CheckFlagValue(field.spec, value, FlagValueText(value));
    const double* number = std::get_if<double>(&value);
    Refuse(number != nullptr && !std::isfinite(*number),
           fmt::format("flag --{}={}: must be a finite number", field.spec.name, FlagValueText(value)));
  }
}

// tf_cnn_benchmarks leaves these unchecked and fails, or does something odd, later.
void CheckAmounts(const P& p) {
  constexpr int64_t kMaxBatch = INT32_MAX, kMaxDevices = 1024, kMaxPacks = 10000, kMaxThreads = 4096,
                    kMaxAutotuneThreshold = 1000, kMaxGroup = 1'000'000;
  const auto at_least = [](const char* name, int64_t value, int64_t least) {
    Refuse(value < least, fmt::format("flag --{}={}: must be at least {}", name, value, least));
  };
  const auto within = [&](const char* name, int64_t value, int64_t least, int64_t most) {
    at_least(name, value, least);
    Refuse(value > most, fmt::format("flag --{}={}: must be at most {}", name, value, most));
  };
  const auto positive = [](const char* name, std::optional<double> value) {
    Refuse(value && *value <= 0,
           fmt::format("flag --{}={}: must be greater than 0", name, PythonFloat(value.value_or(0))));
  };
  at_least("batch_size", p.batch_size, 0);
  at_least("eval_batch_size", p.eval_batch_size, 0);
  Refuse(p.batch_size > kMaxBatch, fmt::format("flag --batch_size={}: must be at most {}", p.batch_size, kMaxBatch));
  within("batch_group_size", p.batch_group_size, 1, kMaxGroup);
  at_least("num_batches", p.num_batches.value_or(1), 1);
  at_least("num_eval_batches", p.num_eval_batches.value_or(1), 1);
  positive("num_epochs", p.num_epochs);
  positive("num_eval_epochs", p.num_eval_epochs);
  const double every_epochs = p.eval_during_training_every_n_epochs.value_or(0);  // 0: not so, as in the peer
  Refuse(every_epochs < 0, fmt::format("flag --eval_during_training_every_n_epochs={}: must be greater than 0",
                                       PythonFloat(every_epochs)));
  within("num_warmup_batches", p.num_warmup_batches.value_or(0), 0, INT32_MAX);
  within("autotune_threshold", p.autotune_threshold.value_or(0), 0, kMaxAutotuneThreshold);
  at_least("display_every", p.display_every, 1);
  at_least("agg_small_grads_max_bytes", p.agg_small_grads_max_bytes, 0);
  at_least("agg_small_grads_max_group", p.agg_small_grads_max_group, 1);
  within("num_gpus", p.num_gpus, 1, kMaxDevices);
  Refuse(p.gradient_repacking > kMaxPacks,
         fmt::format(
             "flag --gradient_repacking={}: must be at most {}, as each pack is a tensor of its own on every device",
             p.gradient_repacking, kMaxPacks));
  at_least("save_model_secs", p.save_model_secs, 0);
  at_least("save_model_steps", p.save_model_steps.value_or(0), 0);
  at_least("save_summaries_steps", p.save_summaries_steps, 0);
  at_least("max_ckpts_to_keep", p.max_ckpts_to_keep, 0);
  at_least("eval_interval_secs", p.eval_interval_secs, 0);
  Refuse(p.summary_verbosity < 0 || p.summary_verbosity > 3,
         fmt::format("flag --summary_verbosity={}: must be 0 to 3", p.summary_verbosity));
  positive("fp16_loss_scale", p.fp16_loss_scale);
  const double accuracy = p.stop_at_top_1_accuracy.value_or(1);
  Refuse(!(accuracy >= 0 && accuracy <= 1),
         fmt::format("flag --stop_at_top_1_accuracy={}: must be 0 to 1", PythonFloat(accuracy)));
  within("num_intra_threads", p.num_intra_threads.value_or(0), 0, kMaxThreads);
  within("num_inter_threads", p.num_inter_threads, 0, kMaxThreads);
  at_least("task_index", p.task_index, 0);
  at_least("datasets_num_private_threads", p.datasets_num_private_threads.value_or(0), 0);
  at_least("multi_device_iterator_max_buffer_size", p.multi_device_iterator_max_buffer_size, 1);
  Refuse(p.num_batches && p.num_epochs, "At most one of --num_batches and --num_epochs may be specified.");
  Refuse(p.num_eval_batches && p.num_eval_epochs,
         "at most one of --num_eval_batches and --num_eval_epochs makes sense");
}

// Rates and what the optimizers' rules allow; "muster train" has the same bounds.
void CheckOptimizers(const P& p) {
  const auto bounded = [](const char* name, double value, bool fits, const char* bounds) {
    Refuse(!fits, fmt::format("flag --{}={}: must be {}", name, PythonFloat(value), bounds));
  };
  const auto from_zero = [&](const char* name, double value) { bounded(name, value, value >= 0, "at least 0"); };
  const auto share = [&](const char* name, double value) {
    bounded(name, value, value >= 0 && value <= 1, "at least 0 and at most 1");
  };
  const auto below_one = [&](const char* name, double value) {
    bounded(name, value, value >= 0 && value < 1, "at least 0 and less than 1");
  };
  from_zero("init_learning_rate", p.init_learning_rate.value_or(0));
  from_zero("num_epochs_per_decay", p.num_epochs_per_decay);
  from_zero("learning_rate_decay_factor", p.learning_rate_decay_factor);
  from_zero("minimum_learning_rate", p.minimum_learning_rate);
  from_zero("num_learning_rate_warmup_epochs", p.num_learning_rate_warmup_epochs);
  from_zero("resnet_base_lr", p.resnet_base_lr.value_or(0));
  from_zero("weight_decay", p.weight_decay);
  share("momentum", p.momentum);
  share("rmsprop_decay", p.rmsprop_decay);
  share("rmsprop_momentum", p.rmsprop_momentum);
  from_zero("rmsprop_epsilon", p.rmsprop_epsilon);
  below_one("adam_beta1", p.adam_beta1);
  below_one("adam_beta2", p.adam_beta2);
  from_zero("adam_epsilon", p.adam_epsilon);
  const double clip = p.gradient_clip.value_or(1);
  bounded("gradient_clip", clip, clip > 0, "greater than 0");
}

// Strings of the peer that stand for one of few things.
void CheckPreprocessing(const P& p) {
  const auto one_of = [](const char* name, const std::string& value, const std::vector<std::string>& known) {
    Refuse(std::find(known.begin(), known.end(), value) == known.end(),
           fmt::format("flag --{}={}: value should be one of <{}>", name, value, fmt::join(known, "|")));
  };
  one_of("resize_method", p.resize_method, {"round_robin", "nearest", "bilinear", "bicubic", "area"});
  one_of("input_preprocessor", p.input_preprocessor, {"default", "official_models_imagenet"});
}

void CheckThreads(const P& p) {
  const std::string& mode = p.gpu_thread_mode;
  const bool known = mode == "global" || mode == "gpu_private" || mode == "gpu_shared";
  Refuse(!known, fmt::format("flag --gpu_thread_mode={}: must be global, gpu_private or gpu_shared", mode));
  Refuse(p.per_gpu_thread_count != 0 && mode == "global",
         fmt::format("flag --per_gpu_thread_count={}: has no meaning with --gpu_thread_mode=global",
                     p.per_gpu_thread_count));
  Refuse(p.debugger && *p.debugger != "cli" && p.debugger->find(':') == std::string::npos,
         fmt::format("flag --debugger={}: must be cli or host:port", p.debugger.value_or("")));
}

void CheckLearningRateFlags(const P& p) {
  const bool decays = p.num_epochs_per_decay != 0 && p.learning_rate_decay_factor != 0 && p.init_learning_rate;
  // The missing space is the peer's: whoever searches for its line finds ours.
  Refuse((p.num_epochs_per_decay != 0 || p.learning_rate_decay_factor != 0) && !decays &&
             !Set(p.piecewise_learning_rate_schedule),
         "If one of num_epochs_per_decay or learning_rate_decay_factor is set, both must be setand learning_rate must "
         "be set");
  Refuse(p.minimum_learning_rate != 0 && !decays && !Set(p.piecewise_learning_rate_schedule),
         "--minimum_learning_rate needs --init_learning_rate, --num_epochs_per_decay and --learning_rate_decay_factor");
}

void CheckHalfPrecision(const P& p) {
  const double scale = p.fp16_loss_scale.value_or(1);
  Refuse(scale <= 0, fmt::format("flag --fp16_loss_scale={}: must be greater than 0", PythonFloat(scale)));
  Refuse(p.fp16_inc_loss_scale_every_n < 1,
         fmt::format("flag --fp16_inc_loss_scale_every_n={}: must be at least 1", p.fp16_inc_loss_scale_every_n));
  const bool nccl = Contains(p.all_reduce_spec, "nccl");
  if (p.use_fp16 && p.fp16_vars) {
    const bool replicated = p.variable_update.find("replicated") != std::string::npos;
    Refuse(replicated && nccl, "--fp16_vars cannot go with NCCL in --all_reduce_spec");
    Refuse(p.gradient_repacking != 0, "--fp16_vars cannot go with --gradient_repacking");
  }
  if (p.use_fp16 && p.fp16_enable_auto_loss_scale) {
    const std::string& mode = p.variable_update;
    Refuse(nccl, "--fp16_enable_auto_loss_scale cannot go with NCCL in --all_reduce_spec");
    Refuse(mode != "parameter_server" && mode != "replicated" && mode != "independent",
           fmt::format("--fp16_enable_auto_loss_scale cannot go with --variable_update={}", mode));
    Refuse(p.staged_vars, "--fp16_enable_auto_loss_scale cannot go with --staged_vars");
  }
}

void CheckEvaluationFlags(const P& p) {
  Refuse(p.forward_only && p.eval, "Only one of forward_only and eval parameters is true");
  const int ways = (p.eval_during_training_every_n_steps.value_or(0) != 0) +
                   (p.eval_during_training_every_n_epochs.value_or(0) != 0) +
                   !p.eval_during_training_at_specified_steps.empty() +
                   !p.eval_during_training_at_specified_epochs.empty();
  Refuse(ways > 1, "at most one of the --eval_during_training_* flags can be given");
  if (ways == 1) {
    Refuse(p.eval, "--eval_during_training_* cannot go with --eval");
    Refuse(p.forward_only, "--eval_during_training_* cannot go with --forward_only");
    Refuse(!p.job_name.empty(), "--eval_during_training_* cannot go with --job_name");
    Refuse(p.staged_vars, "--eval_during_training_* cannot go with --staged_vars");
  }
  SpecifiedSteps(p);
  SpecifiedEpochs(p);
  Refuse(p.stop_at_top_1_accuracy.value_or(0) != 0 && ways == 0,
         "--stop_at_top_1_accuracy needs one of the --eval_during_training_* flags");
  Refuse(p.collect_eval_results_async && p.model != "ssd300",
         "--collect_eval_results_async is for --model=ssd300 only");
  Refuse(p.save_model_secs != 0 && p.save_model_steps.value_or(0) != 0,
         "at most one of --save_model_secs and --save_model_steps can be given");
}

void CheckFreezing(const P& p) {
  if (!p.forward_only || !p.freeze_when_forward_only) {
    Refuse(!p.trt_mode.empty(), "--trt_mode needs --forward_only and --freeze_when_forward_only");
    return;
  }
  const std::string flag = "--freeze_when_forward_only";
  Refuse(p.train_dir.has_value(), flag + " cannot go with --train_dir: frozen weights are not restored");
  Refuse(Set(p.data_dir) && !p.datasets_use_prefetch, flag + " with --data_dir needs --datasets_use_prefetch");
  Refuse(!p.job_name.empty(), flag + " cannot go with --job_name");
}

void CheckModes(const P& p) {
  const std::string& mode = p.variable_update;
  const bool job = !p.job_name.empty();
  Refuse(mode == "horovod" && p.num_gpus > 1, "--variable_update=horovod needs --num_gpus=1 in each process");
  Refuse(mode == "horovod" && job, "--variable_update=horovod cannot go with --job_name");
  Refuse(mode == "distributed_all_reduce" && job && !Set(p.controller_host),
         "--variable_update=distributed_all_reduce with --job_name needs --controller_host");
  Refuse(p.staged_vars && mode != "parameter_server", "--staged_vars needs --variable_update=parameter_server");
  Refuse((mode == "replicated" || mode == "independent") && job,
         fmt::format("Invalid variable_update in distributed mode: {}", mode));
  Refuse(mode == "distributed_replicated" && !job, fmt::format("Invalid variable_update in local mode: {}", mode));
  const bool lock_step =
      mode == "distributed_replicated" || mode == "distributed_all_reduce" || mode == "collective_all_reduce";
  Refuse(lock_step && !p.cross_replica_sync, fmt::format("--variable_update={} needs --cross_replica_sync", mode));
}

// The order of devices in a ring: each number below --num_gpus once, or nothing.
void CheckDeviceOrder(const P& p) {
  if (p.gpu_indices.empty()) return;
  const std::string flag = fmt::format("flag --gpu_indices={}", p.gpu_indices);
  std::vector<int64_t> seen;
  for (size_t start = 0; start <= p.gpu_indices.size();) {
    const size_t comma = std::min(p.gpu_indices.find(',', start), p.gpu_indices.size());
    const std::string item = p.gpu_indices.substr(start, comma - start);
    const bool is_number =
        !item.empty() && item.size() < 5 && item.find_first_not_of("0123456789") == std::string::npos;
    Refuse(!is_number, fmt::format("{}: at character {}: '{}' is not a device number", flag, start + 1, item));
    seen.push_back(std::stoll(item));
    start = comma + 1;
  }
  std::sort(seen.begin(), seen.end());
  bool complete = static_cast<int64_t>(seen.size()) == p.num_gpus;
  for (size_t i = 0; complete && i < seen.size(); ++i) complete = seen[i] == static_cast<int64_t>(i);
  Refuse(!complete, fmt::format("{}: must name each of the devices 0 to {} once", flag, p.num_gpus - 1));
}

void CheckAllReduce(const P& p) {
  CheckDeviceOrder(p);
  Refuse(p.hierarchical_copy && p.num_gpus <= 1, "--hierarchical_copy needs --num_gpus greater than 1");
  Refuse(p.network_topology == "gcp_v100" && p.num_gpus != 8, "--network_topology=gcp_v100 needs --num_gpus=8");
  const std::string& mode = p.variable_update;
  const bool needs_spec = mode == "distributed_all_reduce" || mode == "collective_all_reduce";
  Refuse(needs_spec && !Set(p.all_reduce_spec), fmt::format("--variable_update={} needs --all_reduce_spec", mode));
  if (!Set(p.all_reduce_spec)) return;
  const bool several_workers = p.worker_hosts.find(',') != std::string::npos;
  Refuse(several_workers && *p.all_reduce_spec == "nccl", "--all_reduce_spec=nccl works within one process only");
  const std::vector<AllReduceRange> ranges = ParseAllReduceSpec(*p.all_reduce_spec);
  const bool on_cpus = p.device == "cpu" || p.device == "CPU";
  if (p.job_name.empty())
    CheckAllReduceSpec(ranges, static_cast<int>(p.num_gpus), on_cpus ? static_cast<int>(p.num_gpus) : 1);
  Refuse(mode == "replicated" && ranges[0].algorithm == "collective",
         "collective in --all_reduce_spec needs --variable_update=collective_all_reduce");
  Refuse(mode == "replicated" && ranges.size() > 1,
         "--variable_update=replicated takes a single algorithm in --all_reduce_spec");
  if (mode != "collective_all_reduce") return;
  Refuse(ranges.size() > 1 || ranges[0].algorithm != "collective" || ranges[0].shards > 2,
         "--variable_update=collective_all_reduce needs --all_reduce_spec=collective or collective#2");
}

}  // namespace

void CheckParams(const BenchParams& params) {
  CheckFieldBounds(params);
  CheckAmounts(params);
  CheckOptimizers(params);
  CheckPreprocessing(params);
  CheckThreads(params);
  CheckLearningRateFlags(params);
  CheckHalfPrecision(params);
  CheckEvaluationFlags(params);
  CheckFreezing(params);
  CheckModes(params);
  CheckAllReduce(params);
}

void CheckEvaluation(const BenchParams& params) {
  Refuse(params.eval && !params.train_dir, "Trained model directory not specified");
}

}  // namespace muster::bench
