#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::bench {

// One range of an all-reduce specification: gradients of at most "limit" elements that no earlier range took.
struct AllReduceRange {
  std::string algorithm;  // "xring", "pscpu/pscpu", ...
  int64_t shards = 1;
  int64_t limit = -1;  // elements; -1: no limit
};

// Parses tf_cnn_benchmarks' grammar: range (":" limit ":" range)*, range = algorithm ["#" shards], limit = digits with
// an optional K, k, M, G or T (powers of 1024). Throws InvalidArgument naming the part that is wrong.
std::vector<AllReduceRange> ParseAllReduceSpec(const std::string& spec);

}  // namespace muster::bench
