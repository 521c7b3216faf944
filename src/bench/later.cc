#include "bench/later.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/derived.h"
#include "bench/effect.h"
#include "bench/one_of.h"
#include "bench/param_table.h"
#include "bench/strategy.h"
#include "muster/error.h"
#include "muster/gpu_options.h"
#include "session/logical_gpus.h"

namespace muster::bench {
namespace {

struct Row {
  const char* what;
  Support support;
  std::vector<const char*> names;
};

// By what is missing or why there is no effect.
const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
      {"model ssd300", Support::kLater, {"backbone_model_path", "collect_eval_results_async"}},
      {"TensorRT", Support::kLater, {"trt_mode", "trt_max_workspace_size_bytes"}},
      {"NUMA binding", Support::kLater, {"use_numa_affinity"}},
      {"a debugger", Support::kLater, {"debugger"}},
      {"Horovod's protocol", Support::kLater, {"horovod_device"}},
      {"a cluster",
       Support::kLater,
       {"job_name", "task_index", "ps_hosts", "worker_hosts", "controller_host", "server_protocol"}},
      {"MLPerf's log", Support::kLater, {"ml_perf_compliance_logging"}},

      {"the order of images does not depend on how files are read",
       Support::kNoEffect,
       {"use_datasets", "datasets_sloppy_parallel_interleave", "datasets_parallel_interleave_prefetch"}},
      {"nor in tf_cnn_benchmarks", Support::kNoEffect, {"datasets_prefetch_buffer_size"}},
      {"without a real GPU",
       Support::kNoEffect,
       {"gpu_thread_mode", "per_gpu_thread_count", "use_unified_memory", "force_gpu_compatible",
        "timestamped_allocator", "gpu_kt_max_interval", "gpu_kt_max_bytes", "gpu_kt_max_pending", "sync_on_finish",
        "winograd_nonfused", "batchnorm_persistent"}},
      {"within one process", Support::kNoEffect, {"cross_replica_sync"}},
      {"outside TensorFlow",
       Support::kNoEffect,
       {"num_inter_threads", "mkl", "kmp_blocktime", "kmp_affinity", "kmp_settings", "xla", "xla_compile",
        "enable_optimizations", "rewriter_config", "use_tf_layers", "use_resource_vars", "use_python32_barrier",
        "compute_lr_on_cpu", "sparse_to_dense_grads", "allreduce_merge_scope"}},
  };
  return rows;
}

// The same for flags of the exchange.
std::string ExchangeWithoutEffect(const BenchParams& params, const std::string& name) {
  if (!IsOneOf(name, {"local_parameter_device", "all_reduce_spec", "hierarchical_copy", "network_topology",
                      "gradient_repacking", "variable_consistency", "agg_small_grads_max_bytes",
                      "agg_small_grads_max_group", "gpu_indices", "compact_gradient_transfer"}))
    return "";
  const std::string spec = params.all_reduce_spec.value_or("");
  if (name == "local_parameter_device" && params.variable_update == "parameter_server")
    return IsOnCpus(params) && params.num_gpus == 1 ? "with one device" : "";
  if (params.forward_only) return "with --forward_only";
  if (!IsReplicated(params)) return "with --variable_update=" + params.variable_update;
  if (name == "variable_consistency") return "";
  if (params.num_gpus == 1) return "with one device";
  if (name == "local_parameter_device" && params.hierarchical_copy) return "with --hierarchical_copy";
  if (IsOneOf(name, {"hierarchical_copy", "local_parameter_device"}) && !spec.empty()) return "with --all_reduce_spec";
  if (name == "network_topology" && !params.hierarchical_copy) return "without --hierarchical_copy";
  if (name == "agg_small_grads_max_bytes" && spec.empty()) return "without --all_reduce_spec";
  if (name == "agg_small_grads_max_group" && params.agg_small_grads_max_bytes <= 0)
    return "without --agg_small_grads_max_bytes";
  if (name == "gpu_indices" && spec.find("xring") == std::string::npos) return "without xring in --all_reduce_spec";
  return "";
}

// The same for flags of half precision.
std::string HalfPrecisionWithoutEffect(const BenchParams& params, const std::string& name) {
  if (!IsOneOf(name, {"fp16_loss_scale", "fp16_vars", "fp16_enable_auto_loss_scale", "fp16_inc_loss_scale_every_n"}))
    return "";
  if (!params.use_fp16) return "without --use_fp16";
  const Mode mode = ModeOf(params);
  if (name != "fp16_vars" && (mode == Mode::kEvaluation || mode == Mode::kForwardOnly)) return "without training";
  if (name == "fp16_inc_loss_scale_every_n" && !params.fp16_enable_auto_loss_scale)
    return "without --fp16_enable_auto_loss_scale";
  return "";
}

// Flags of gradients and of what is made of them.
bool IsOfUpdates(const std::string& name) {
  return name.starts_with("rmsprop_") || name.starts_with("adam_") || name.find("learning_rate") != std::string::npos ||
         IsOneOf(name, {"staged_vars", "optimizer", "momentum", "gradient_clip", "weight_decay", "single_l2_loss_op",
                        "num_epochs_per_decay", "resnet_base_lr"});
}

// The same for flags of evaluations.
std::string EvaluationWithoutEffect(const BenchParams& params, const std::string& name) {
  const Mode mode = ModeOf(params);
  if (name == "eval_interval_secs" && mode != Mode::kEvaluation) return "without --eval";
  if (IsOneOf(name, {"eval_batch_size", "num_eval_batches", "num_eval_epochs", "eval_dir"}) &&
      mode != Mode::kEvaluation && mode != Mode::kTrainingAndEvaluation)
    return "without an evaluation";
  if (mode != Mode::kEvaluation) return FilesWithoutEffect(params, name);
  const bool of_training =
      IsOfUpdates(name) ||
      IsOneOf(name, {"num_warmup_batches", "print_training_accuracy", "save_model_steps", "save_model_secs",
                     "save_summaries_steps", "max_ckpts_to_keep", "summary_verbosity", "trace_file"});
  return of_training ? "with --eval" : "";
}

// The same for flags of the input.
std::string InputWithoutEffect(const BenchParams& params, const std::string& name) {
  if (!IsOneOf(name, {"resize_method", "distortions", "distort_color_in_yiq", "fuse_decode_and_crop",
                      "input_preprocessor", "ml_perf", "datasets_use_prefetch", "datasets_num_private_threads",
                      "datasets_use_caching", "datasets_repeat_cached_sample", "multi_device_iterator_max_buffer_size",
                      "datasets_parallel_interleave_cycle_length"}))
    return "";
  if (params.data_dir.value_or("").empty()) return "for synthetic data";
  if (name == "multi_device_iterator_max_buffer_size" && !params.datasets_use_prefetch)
    return "without --datasets_use_prefetch";
  if (name == "datasets_num_private_threads" && !params.datasets_use_prefetch) return "without --datasets_use_prefetch";
  if (IsOneOf(name, {"datasets_use_prefetch", "datasets_num_private_threads", "multi_device_iterator_max_buffer_size"}))
    return "";
  if (params.data_name.value_or("") == "cifar10" && name != "distortions") return "on cifar10";
  const Mode mode = ModeOf(params);
  if (name == "datasets_parallel_interleave_cycle_length")
    return mode == Mode::kEvaluation || mode == Mode::kTrainingAndEvaluation
               ? ""
               : "without an evaluation: training reads at random";
  if (mode == Mode::kEvaluation && IsOneOf(name, {"distortions", "distort_color_in_yiq", "fuse_decode_and_crop"}))
    return "with --eval";
  if (name == "distort_color_in_yiq" && !params.distortions) return "without --distortions";
  const bool official = params.input_preprocessor == "official_models_imagenet";
  if (official && !IsOneOf(name, {"input_preprocessor", "datasets_use_caching", "datasets_repeat_cached_sample"}))
    return "with --input_preprocessor=official_models_imagenet";
  if (name == "datasets_use_caching" && params.datasets_repeat_cached_sample)
    return "with --datasets_repeat_cached_sample";
  return "";
}

// Why a flag that works changes nothing in this request; "" when it does.
std::string WithoutEffectHere(const BenchParams& params, const std::string& name) {
  const auto starts = [](const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; };
  const bool own_rate = !params.init_learning_rate && params.piecewise_learning_rate_schedule.value_or("").empty();
  if (name == "freeze_when_forward_only" && !params.forward_only) return "without --forward_only";
  if (name == "num_learning_rate_warmup_epochs" && own_rate) return "at the model's own rate";
  if (name == "resnet_base_lr" && !own_rate) return "with your own rate";
  if (name == "resnet_base_lr" && !starts(params.model, "resnet")) return "on " + params.model;
  if (IsOneOf(name, {"allow_growth", "gpu_memory_frac_for_testing"}) && IsOnCpus(params)) return "on a CPU";
  if (params.forward_only && IsOfUpdates(name)) return "with --forward_only";
  if (name == "single_l2_loss_op" && params.weight_decay == 0) return "without --weight_decay";
  if (name == "benchmark_test_id" && !params.benchmark_log_dir) return "without --benchmark_log_dir";
  if (name == "compact_gradient_transfer" && !params.use_fp16) return "without --use_fp16";
  if (const std::string why = ExchangeWithoutEffect(params, name); !why.empty()) return why;
  if (const std::string why = EvaluationWithoutEffect(params, name); !why.empty()) return why;
  if (const std::string why = InputWithoutEffect(params, name); !why.empty()) return why;
  if (const std::string why = HalfPrecisionWithoutEffect(params, name); !why.empty()) return why;
  const bool of_another = (name == "momentum" && params.optimizer != "momentum") ||
                          (starts(name, "rmsprop_") && params.optimizer != "rmsprop") ||
                          (starts(name, "adam_") && params.optimizer != "adam");
  return of_another ? "with --optimizer=" + params.optimizer : "";
}

bool IsDefault(const BenchParams& params, const ParamField& field) {
  return GetParam(params, field) == field.spec.default_value;
}

}  // namespace

const std::vector<FlagSupport>& SupportTable() {
  static const std::vector<FlagSupport> table = [] {
    std::vector<FlagSupport> all;
    for (const Row& row : Rows()) {
      for (const char* name : row.names) all.push_back({name, row.support, row.what});
    }
    return all;
  }();
  return table;
}

FlagSupport SupportOf(const std::string& name) {
  for (const FlagSupport& support : SupportTable()) {
    if (support.name == name) return support;
  }
  return {name, Support::kWorks, ""};
}

namespace {

void CheckGpus(const BenchParams& params, const OwnParams& own) {
  if (own.simulated_gpus == 0) {
    throw Unimplemented(
        fmt::format("flag --device={}: this version of Muster computes on CPUs (--device=cpu) and on simulated GPUs "
                    "(--simulated_gpus=N)",
                    params.device));
  }
  CheckGpuMemoryLimit(own.gpu_memory_limit_mb);
  const double share = params.gpu_memory_frac_for_testing;
  if (share > 1)
    throw InvalidArgument(fmt::format("flag --gpu_memory_frac_for_testing={}: must be at most 1", PythonFloat(share)));
  if (share > 0 && own.gpu_memory_limit_mb > 0)
    throw InvalidArgument("--gpu_memory_limit_mb cannot go with --gpu_memory_frac_for_testing");
  const GpuOptions gpu = GpuOptionsOf(params, own);
  const auto gpus = static_cast<int64_t>(LogicalGpus(gpu, gpu.simulated_gpus, gpu.card_memory_mb << 20, -1).size());
  if (params.num_gpus <= gpus) return;
  std::string flags = fmt::format("--simulated_gpus={}", own.simulated_gpus);
  if (!own.visible_device_list.empty()) flags += " --visible_device_list=" + own.visible_device_list;
  if (!own.virtual_gpus_mb.empty()) flags += " --virtual_gpus_mb=" + own.virtual_gpus_mb;
  throw InvalidArgument(fmt::format("flag --num_gpus={}: there {} {} GPU{}: {}", params.num_gpus,
                                    gpus == 1 ? "is" : "are", gpus, gpus == 1 ? "" : "s", flags));
}

}  // namespace

void CheckGpuMemoryLimit(int64_t mebibytes) {
  const int64_t most = GpuOptions{}.card_memory_mb;
  if (mebibytes > most)
    throw InvalidArgument(fmt::format(
        "flag --gpu_memory_limit_mb={}: must be at most {}, the memory of a simulated GPU", mebibytes, most));
}

void CheckSupported(const BenchParams& params, const OwnParams& own) {
  if (!IsOnCpus(params)) CheckGpus(params, own);
  if (own.use_bf16 && params.use_fp16) throw InvalidArgument("--use_bf16 cannot go with --use_fp16");
  if (params.variable_update == "horovod")
    throw Unimplemented("flag --variable_update=horovod: Horovod's protocol is not in this version of Muster yet");
  if (own.batch_norm_statistics == "synchronised" && params.variable_update == "independent")
    throw InvalidArgument(
        "flag --batch_norm_statistics=synchronised: --variable_update=independent exchanges nothing; take first_tower "
        "or mean, "
        "or another --variable_update");
  for (const ParamField& field : BenchParamTable().fields()) {
    const FlagSupport support = SupportOf(field.spec.name);
    if (support.support != Support::kLater || IsDefault(params, field)) continue;
    throw Unimplemented(fmt::format("flag --{}={}: {} is not in this version of Muster yet", field.spec.name,
                                    FlagValueText(GetParam(params, field)), support.note));
  }
}

std::string NoEffectNote(const BenchParams& params, const OwnParams& own) {
  std::vector<std::string> flags;
  for (const ParamField& field : BenchParamTable().fields()) {
    if (IsDefault(params, field)) continue;
    const FlagSupport support = SupportOf(field.spec.name);
    const std::string why =
        support.support == Support::kNoEffect ? support.note : WithoutEffectHere(params, field.spec.name);
    if (!why.empty()) flags.push_back(fmt::format("--{} ({})", field.spec.name, why));
  }
  for (const auto& [name, why] : OwnFlagsWithoutEffect(params, own))
    flags.push_back(fmt::format("--{} ({})", name, why));
  return flags.empty() ? "" : fmt::format("without effect: {}", fmt::join(flags, ", "));
}

}  // namespace muster::bench
