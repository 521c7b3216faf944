#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// The inner loops of reductions, over arrays of T, float or BFloat16. Sums are single precision; callers combine pieces
// in double.
namespace muster::cpu {

enum class Reduction { kSum, kSumOfSquares, kMax, kMin };
inline constexpr size_t kNumReductions = 4;

template <typename T>
struct ReduceLoops {
  // n values to one.
  float (*run)(const T* x, int64_t n);
  // acc[j] = acc[j] reduced with x[i][j] for each of "rows" rows of n values that follow one another.
  void (*rows)(const T* x, int64_t rows, int64_t n, float* acc);
};

template <typename T>
struct ReduceSimd {
  std::array<ReduceLoops<T>, kNumReductions> loops;
  const ReduceLoops<T>& operator[](Reduction r) const { return loops[static_cast<size_t>(r)]; }
};

// For this CPU.
template <typename T>
const ReduceSimd<T>& GetReduceSimd();

}  // namespace muster::cpu
