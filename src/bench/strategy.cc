#include "bench/strategy.h"

#include <charconv>

#include "session/logical_gpus.h"

namespace muster::bench {
namespace {

bool IsCpu(const std::string& device) { return device == "cpu" || device == "CPU"; }

// "1,0,2" was checked; "" leaves the order as it is.
std::vector<int> NumbersIn(const std::string& list) {
  std::vector<int> numbers;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at < end) {
    int number = 0;
    at = std::from_chars(at, end, number).ptr;
    numbers.push_back(number);
    while (at < end && (*at == ',' || *at == ' ')) ++at;
  }
  return numbers;
}

ExchangeOptions ExchangeOf(const BenchParams& params, const OwnParams& own) {
  ExchangeOptions exchange;
  if (!params.all_reduce_spec.value_or("").empty())
    exchange.all_reduce_spec = ParseAllReduceSpec(*params.all_reduce_spec);
  exchange.hierarchical_copy = params.hierarchical_copy;
  exchange.network_topology =
      params.network_topology == "gcp_v100" ? NetworkTopology::kGcpV100 : NetworkTopology::kDgx1;
  exchange.sum_on_cpu = IsCpu(params.local_parameter_device);
  exchange.gradient_repacking = params.gradient_repacking;
  exchange.relaxed = params.variable_consistency == "relaxed";
  exchange.agg_small_grads_max_bytes = params.agg_small_grads_max_bytes;
  exchange.agg_small_grads_max_group = params.agg_small_grads_max_group;
  exchange.half_precision = params.use_fp16 && params.compact_gradient_transfer;
  exchange.bucket_bytes = own.bucket_mb << 20;
  exchange.ring_order = NumbersIn(params.gpu_indices);
  return exchange;
}

}  // namespace

bool IsOnCpus(const BenchParams& params) { return IsCpu(params.device); }

GpuOptions GpuOptionsOf(const BenchParams& params, const OwnParams& own) {
  GpuOptions gpu;
  gpu.simulated_gpus = static_cast<int>(own.simulated_gpus);
  gpu.memory_limit_mb = own.gpu_memory_limit_mb;
  gpu.per_process_gpu_memory_fraction = params.gpu_memory_frac_for_testing;
  gpu.allow_growth = params.allow_growth.value_or(false);
  gpu.visible_device_list = own.visible_device_list;
  gpu.virtual_devices_mb = ParseVirtualGpus(own.virtual_gpus_mb);
  gpu.delay_seed = static_cast<uint64_t>(own.gpu_delay_seed);
  gpu.check_hazards = own.check_hazards;
  return gpu;
}

SessionOptions DevicesOf(const BenchParams& params, const OwnParams& own, const Derived& derived) {
  SessionOptions options;
  const int num_devices = static_cast<int>(derived.num_devices);
  options.num_cpu_devices = IsOnCpus(params) ? num_devices : 1;
  options.num_gpus = IsOnCpus(params) ? 0 : num_devices;
  // 0 and unset mean all cores, as in the peer on a CPU.
  options.intra_op_threads = static_cast<int>(params.num_intra_threads.value_or(0));
  options.allow_soft_placement = own.allow_soft_placement;
  options.gpu = GpuOptionsOf(params, own);
  return options;
}

bool IsReplicated(const BenchParams& params) {
  const std::string& mode = params.variable_update;
  return mode == "replicated" || mode == "distributed_all_reduce" || mode == "collective_all_reduce";
}

StrategyOptions StrategyOf(const BenchParams& params, const OwnParams& own, const Derived& derived) {
  StrategyOptions strategy;
  if (IsReplicated(params)) strategy.variable_update = VariableUpdate::kReplicated;
  if (params.variable_update == "independent") strategy.variable_update = VariableUpdate::kIndependent;
  strategy.tower_devices = derived.devices;
  if (IsCpu(params.local_parameter_device)) strategy.parameter_device = "/cpu:0";
  strategy.combine = own.gradient_combine == "sum" ? GradientCombine::kSum : GradientCombine::kMean;
  if (own.batch_norm_statistics == "mean") strategy.batch_norm_statistics = BatchNormStatistics::kMean;
  if (own.batch_norm_statistics == "synchronised") strategy.batch_norm_statistics = BatchNormStatistics::kSynchronised;
  strategy.staged_variables = params.staged_vars && !params.forward_only;
  strategy.gradient_clip = params.gradient_clip;
  strategy.exchange = ExchangeOf(params, own);
  if (params.use_fp16) {
    strategy.loss_scaling = {.initial = params.fp16_loss_scale.value_or(derived.model.fp16_loss_scale),
                             .automatic = params.fp16_enable_auto_loss_scale,
                             .increase_every = params.fp16_inc_loss_scale_every_n};
  }
  return strategy;
}

int SummedTowers(const BenchParams& params, const OwnParams& own) {
  const bool sums = params.variable_update == "replicated" && own.gradient_combine == "sum";
  return sums ? static_cast<int>(params.num_gpus) : 1;
}

}  // namespace muster::bench
