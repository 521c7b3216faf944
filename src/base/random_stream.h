#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/philox.h"

namespace muster {

// The random numbers of one operation. Element i of the tensor that step s draws is a pure function of (graph seed,
// operation seed, node name, s, i), so any part of a tensor can be drawn by any thread, in any order, on any backend,
// with equal bits. A small value; constant use from several threads is fine.
//
// The mapping, exactly:
//   key     Philox(MixSeeds(graph seed, operation seed), HashName(node name)), counter (step, block)
//   words   of 32 bits: word i of a step is number i % 4 of block i / 4
//   32-bit  elements (float, int32_t): element i is made from word i
//   64-bit  elements (double, int64_t): element i is made from words 2i (high) and 2i+1 (low)
//   normal  elements come in pairs: 2j and 2j+1 are made from what elements 2j and 2j+1 would be made from
//
// A Fill… function writes elements first, first + 1, … of the step's tensor, as many as "out" holds.
class RandomStream {
 public:
  RandomStream(uint64_t graph_seed, int64_t op_seed, std::string_view node_name);

  // For backends that make the words with vectors of their own.
  const Philox& philox() const { return philox_; }

  // Uniform in [0, 1), with 24 (float) or 53 (double) random bits.
  void FillUniform(int64_t step, int64_t first, std::span<float> out) const;
  void FillUniform(int64_t step, int64_t first, std::span<double> out) const;

  // Integers in [low, high), which must not be empty: low + floor(word * (high - low) / 2^bits). Each value is off its
  // exact probability by less than 2^-bits.
  void FillUniformInt(int64_t step, int64_t first, int64_t low, int64_t high, std::span<int32_t> out) const;
  void FillUniformInt(int64_t step, int64_t first, int64_t low, int64_t high, std::span<int64_t> out) const;

  // Standard normal by Box and Muller's transform ("A note on the generation of random normal deviates", 1958).
  void FillNormal(int64_t step, int64_t first, std::span<float> out) const;
  void FillNormal(int64_t step, int64_t first, std::span<double> out) const;

  // Standard normal restricted to (-2, 2): the distribution that drawing again whatever lies beyond would give, but by
  // inverting its distribution function, so that each element costs the same and needs one word.
  void FillTruncatedNormal(int64_t step, int64_t first, std::span<float> out) const;
  void FillTruncatedNormal(int64_t step, int64_t first, std::span<double> out) const;

 private:
  Philox philox_;
};

// The two seeds as one: graph seed XOR a bijection of the operation's that keeps 0 (so seed 0 means "the graph's").
uint64_t MixSeeds(uint64_t graph_seed, int64_t op_seed);

}  // namespace muster
