#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

// One range of an all-reduce specification: gradients of at most "limit" elements that no earlier range took.
struct AllReduceRange {
  std::string algorithm;  // "xring", "pscpu/pscpu", …
  int64_t shards = 1;
  int64_t limit = -1;  // elements; -1: no limit
};

// Parses tf_cnn_benchmarks' grammar: range (":" limit ":" range)*, range = algorithm ["#" shards], limit = digits with
// an optional K, k, M, G or T (powers of 1024). Throws InvalidArgument naming the part that is wrong and the character
// (counted from 1) where it begins.
std::vector<AllReduceRange> ParseAllReduceSpec(const std::string& spec);

// Throws InvalidArgument if the towers of one process cannot run it: more shards than there are CPUs or towers.
void CheckAllReduceSpec(const std::vector<AllReduceRange>& spec, int num_towers, int num_cpus);

// How the 8 cards of a server are linked, for hierarchical copies.
enum class NetworkTopology : uint8_t { kDgx1, kGcpV100 };

// How the gradients of replicated towers meet: what the flags of tf_cnn_benchmarks with these names say. The first that
// is given decides how a tensor is summed: all_reduce_spec, hierarchical_copy, plain copy (gradient i is summed on
// tower i mod n, or on the CPU, and everyone pulls the sum). Around it, in this order: gradients are concatenated,
// delayed, cut into packs. Unless they are packed (gradient_repacking, agg_small_grads_*), what is summed is not a
// gradient but a bucket of them: those that the backward pass makes one after the other, exchanged while it goes on.
// All sums add in a fixed order.
struct ExchangeOptions {
  std::vector<AllReduceRange> all_reduce_spec;
  bool hierarchical_copy = false;
  NetworkTopology network_topology = NetworkTopology::kDgx1;
  bool sum_on_cpu = false;         // plain copy; local_parameter_device=cpu
  int64_t gradient_repacking = 0;  // number of packs; 0: none
  bool relaxed = false;            // variable_consistency: reduced gradients arrive one step late, zeros at first
  int64_t agg_small_grads_max_bytes = 0;  // with all_reduce_spec: runs of float32 gradients up to this size become one
  int64_t agg_small_grads_max_group = 10;
  int64_t bucket_bytes = int64_t{25} << 20;       // a bucket is full when it has so many; 0: no buckets
  int64_t first_bucket_bytes = int64_t{1} << 20;  // the first one: it is there soon
  bool half_precision = false;  // float32 gradients travel as float16, and are added as float32 where they arrive
  std::vector<int> ring_order;  // of the towers in a ring (gpu_indices); empty: by number
};

}  // namespace muster
