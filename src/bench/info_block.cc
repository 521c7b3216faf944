#include "bench/info_block.h"

#include <fmt/format.h>

#include "base/version.h"

namespace muster::bench {

std::string PythonList(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += fmt::format("{}'{}'", text.empty() ? "" : ", ", item);
  return "[" + text + "]";
}

std::string PythonBool(bool value) { return value ? "True" : "False"; }

std::vector<std::string> InfoBlock(const BenchParams& params, const Derived& derived) {
  std::vector<std::string> lines;
  const auto add = [&](const char* label, const std::string& text) {
    lines.push_back(fmt::format("{:<13}{}", label, text));
  };
  const std::string& mode = params.variable_update;
  add("Muster:", Version());
  add("Model:", derived.model.printed_name);
  add("Dataset:", derived.dataset_label());
  add("Mode:", ModeName(derived.mode));
  add("SingleSess:", PythonBool(mode == "distributed_all_reduce"));
  add("Batch size:", fmt::format("{} global", derived.global_batch_size()));
  add("", fmt::format("{} per device", derived.batch_size_per_device));
  if (params.batch_group_size > 1) {
    add("", fmt::format("{} batches per prepocessing group", params.batch_group_size));  // spelt so by the peer
  }
  add("Num batches:", std::to_string(derived.num_batches));
  add("Num epochs:", fmt::format("{:.2f}", derived.num_epochs));
  add("Devices:", PythonList(derived.devices));
  add("NUMA bind:", PythonBool(params.use_numa_affinity));
  add("Data format:", params.data_format);
  if (params.rewriter_config && !params.rewriter_config->empty()) {
    lines.push_back("RewriterConfig: " + *params.rewriter_config);
  }
  add("Optimizer:", params.optimizer);
  add("Variables:", mode);
  if (mode == "replicated" || mode == "distributed_all_reduce" || mode == "collective_all_reduce") {
    add("AllReduce:", params.all_reduce_spec.value_or("None"));
  }
  if (!params.job_name.empty()) add("Sync:", PythonBool(params.cross_replica_sync));
  if (params.staged_vars) add("Staged vars:", PythonBool(params.staged_vars));
  if (mode == "horovod" && !params.horovod_device.empty()) add("Horovod on:", params.horovod_device);
  lines.push_back("==========");
  return lines;
}

}  // namespace muster::bench
