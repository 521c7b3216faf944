#include "bench/effect.h"

#include <functional>

#include <fmt/format.h>

#include "bench/derived.h"
#include "bench/one_of.h"
#include "bench/strategy.h"
#include "muster/saver.h"
#include "train/checkpoint_folder.h"

namespace muster::bench {
namespace {

std::string WithoutTraining(const BenchParams& params) {
  if (params.eval) return "with --eval";
  return params.forward_only ? "with --forward_only" : "";
}

// Where there are no gradients of several devices.
std::string WithoutTowers(const BenchParams& params) {
  if (const std::string why = WithoutTraining(params); !why.empty()) return why;
  return params.num_gpus == 1 ? "with one device" : "";
}

std::string WithoutExchange(const BenchParams& params) {
  if (const std::string why = WithoutTowers(params); !why.empty()) return why;
  return params.variable_update == "independent" ? "with --variable_update=independent" : "";
}

std::string WithoutBuckets(const BenchParams& params) {
  if (const std::string why = WithoutTowers(params); !why.empty()) return why;
  return IsReplicated(params) ? "" : "with --variable_update=" + params.variable_update;
}

std::string WithoutGpus(const BenchParams& params) { return IsOnCpus(params) ? "on a CPU" : ""; }

struct OwnFlag {
  const char* name;
  std::function<bool(const OwnParams& own, const OwnParams& defaults)> is_set;
  std::string (*why)(const BenchParams& params);
};

template <typename T>
OwnFlag Flag(const char* name, T OwnParams::*member, std::string (*why)(const BenchParams&)) {
  return {name, [member](const OwnParams& own, const OwnParams& defaults) { return own.*member != defaults.*member; },
          why};
}

const std::vector<OwnFlag>& OwnFlagTable() {
  static const std::vector<OwnFlag> flags = {
      Flag("check_nan", &OwnParams::check_nan, WithoutTraining),
      Flag("gradient_combine", &OwnParams::gradient_combine, WithoutExchange),
      Flag("bucket_mb", &OwnParams::bucket_mb, WithoutBuckets),
      Flag("batch_norm_statistics", &OwnParams::batch_norm_statistics, WithoutTowers),
      Flag("recompute", &OwnParams::recompute, WithoutTraining),
      Flag("simulated_gpus", &OwnParams::simulated_gpus, WithoutGpus),
      Flag("gpu_memory_limit_mb", &OwnParams::gpu_memory_limit_mb, WithoutGpus),
      Flag("visible_device_list", &OwnParams::visible_device_list, WithoutGpus),
      Flag("virtual_gpus_mb", &OwnParams::virtual_gpus_mb, WithoutGpus),
      Flag("gpu_delay_seed", &OwnParams::gpu_delay_seed, WithoutGpus),
      Flag("check_hazards", &OwnParams::check_hazards, WithoutGpus),
  };
  return flags;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> OwnFlagsWithoutEffect(const BenchParams& params,
                                                                       const OwnParams& own) {
  static const OwnParams defaults;
  std::vector<std::pair<std::string, std::string>> found;
  for (const OwnFlag& flag : OwnFlagTable())
    if (flag.is_set(own, defaults))
      if (std::string why = flag.why(params); !why.empty()) found.emplace_back(flag.name, std::move(why));
  return found;
}

std::string FilesWithoutEffect(const BenchParams& params, const std::string& flag) {
  if (flag == "train_dir" && params.forward_only && params.train_dir &&
      Saver::LatestCheckpoint(*params.train_dir).empty())
    return fmt::format("there is no {}checkpoint in it: weights are first values",
                       train::HasUnlistedCheckpoints(*params.train_dir) ? "listed " : "");
  if (!IsOneOf(flag, {"save_model_steps", "save_model_secs", "max_ckpts_to_keep", "save_summaries_steps",
                      "summary_verbosity"}))
    return "";
  if (params.forward_only) return "with --forward_only";
  if (!params.train_dir) return "without --train_dir";
  if (flag == "save_summaries_steps" && params.summary_verbosity == 0) return "without --summary_verbosity";
  if (flag == "summary_verbosity" && params.save_summaries_steps == 0) return "without --save_summaries_steps";
  return "";
}

}  // namespace muster::bench
