#include "backend/cpu/reduce_simd.h"

#include <limits>

#include "backend/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/reduce_simd.cc"
#include "hwy/foreach_target.h"
#include "backend/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace muster::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Summing {
  static constexpr float kStart = 0;
  static HWY_INLINE VF32 Take(VF32 acc, VF32 x) { return hn::Add(acc, x); }
  static HWY_INLINE VF32 Join(VF32 a, VF32 b) { return hn::Add(a, b); }
  static HWY_INLINE float Lanes(F32 d, VF32 v) { return hn::GetLane(hn::SumOfLanes(d, v)); }
};

struct SummingSquares : Summing {
  static HWY_INLINE VF32 Take(VF32 acc, VF32 x) { return hn::MulAdd(x, x, acc); }
};

// A NaN, once met, stays.
template <bool kMax>
struct Extreme {
  static constexpr float kStart =
      kMax ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
  static HWY_INLINE VF32 Take(VF32 acc, VF32 x) {
    const auto better = kMax ? hn::Gt(x, acc) : hn::Lt(x, acc);
    return hn::IfThenElse(hn::Or(better, hn::IsNaN(x)), x, acc);
  }
  static HWY_INLINE VF32 Join(VF32 a, VF32 b) { return Take(a, b); }
  static HWY_INLINE float Lanes(F32 d, VF32 v) {
    HWY_ALIGN float lanes[hn::MaxLanes(F32())];
    hn::Store(v, d, lanes);
    float best = lanes[0];
    for (size_t i = 1; i < hn::Lanes(d); ++i)
      if ((kMax ? lanes[i] > best : lanes[i] < best) || lanes[i] != lanes[i]) best = lanes[i];
    return best;
  }
};

template <typename R, typename T>
float Run(const T* x, int64_t n) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const VF32 start = hn::Set(d, R::kStart);
  VF32 a0 = start, a1 = start, a2 = start, a3 = start;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a0 = R::Take(a0, LoadAll(d, x + i));
    a1 = R::Take(a1, LoadAll(d, x + i + lanes));
    a2 = R::Take(a2, LoadAll(d, x + i + 2 * lanes));
    a3 = R::Take(a3, LoadAll(d, x + i + 3 * lanes));
  }
  for (; i < n; i += lanes) {
    const size_t part = static_cast<size_t>(n - i);
    const VF32 v = LoadPart(d, x + i, part);
    a0 = hn::IfThenElse(hn::FirstN(d, part), R::Take(a0, v), a0);
  }
  return R::Lanes(d, R::Join(R::Join(a0, a1), R::Join(a2, a3)));
}

template <typename R, typename T>
void Rows(const T* x, int64_t rows, int64_t n, float* acc) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4, x += 4 * n) {
    for (int64_t j = 0; j < n; j += lanes) {
      const size_t part = static_cast<size_t>(n - j);
      VF32 v = R::Take(LoadPart(d, acc + j, part), LoadPart(d, x + j, part));
      v = R::Take(v, LoadPart(d, x + n + j, part));
      v = R::Take(v, LoadPart(d, x + 2 * n + j, part));
      StorePart(R::Take(v, LoadPart(d, x + 3 * n + j, part)), d, acc + j, part);
    }
  }
  for (; r < rows; ++r, x += n) {
    for (int64_t j = 0; j < n; j += lanes) {
      const size_t part = static_cast<size_t>(n - j);
      StorePart(R::Take(LoadPart(d, acc + j, part), LoadPart(d, x + j, part)), d, acc + j, part);
    }
  }
}

template <typename R, typename T>
constexpr ReduceLoops<T> Loops() {
  return {Run<R, T>, Rows<R, T>};
}

template <typename T>
const ReduceSimd<T>* TableOf() {
  // In the order of the enumeration.
  static constexpr ReduceSimd<T> table = {
      {Loops<Summing, T>(), Loops<SummingSquares, T>(), Loops<Extreme<true>, T>(), Loops<Extreme<false>, T>()}};
  return &table;
}

}  // namespace

const ReduceSimd<float>* ReduceTable() { return TableOf<float>(); }
const ReduceSimd<BFloat16>* ReduceHalfTable() { return TableOf<BFloat16>(); }

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::cpu {
HWY_EXPORT(ReduceTable);
HWY_EXPORT(ReduceHalfTable);
template <>
const ReduceSimd<float>& GetReduceSimd() {
  return *HWY_DYNAMIC_DISPATCH(ReduceTable)();
}
template <>
const ReduceSimd<BFloat16>& GetReduceSimd() {
  return *HWY_DYNAMIC_DISPATCH(ReduceHalfTable)();
}
}  // namespace muster::cpu
#endif
