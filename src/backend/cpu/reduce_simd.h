#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// The inner loops of reductions. Single precision; callers combine pieces in double.
namespace muster::cpu {

enum class Reduction { kSum, kSumOfSquares, kMax, kMin };
inline constexpr size_t kNumReductions = 4;

struct ReduceLoops {
  // n values to one.
  float (*run)(const float* x, int64_t n);
  // acc[j] = acc[j] reduced with x[i][j] for each of "rows" rows of n values that follow one another.
  void (*rows)(const float* x, int64_t rows, int64_t n, float* acc);
};

struct ReduceSimd {
  std::array<ReduceLoops, kNumReductions> loops;
  const ReduceLoops& operator[](Reduction r) const { return loops[static_cast<size_t>(r)]; }
};

// For this CPU.
const ReduceSimd& GetReduceSimd();

}  // namespace muster::cpu
