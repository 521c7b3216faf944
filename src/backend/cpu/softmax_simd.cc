#include "backend/cpu/softmax_simd.h"

#include <cmath>
#include <limits>

#include "backend/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/softmax_simd.cc"
#include "hwy/foreach_target.h"
#include "backend/cpu/simd_math_inl.h"

HWY_BEFORE_NAMESPACE();
namespace muster::cpu {
namespace HWY_NAMESPACE {
namespace {

// NaN elements are passed over here; their exponentials carry them into the sum.
float MaxOf(const float* x, int64_t n) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const VF32 lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  VF32 best = lowest;
  for (int64_t j = 0; j < n; j += lanes) {
    const size_t part = static_cast<size_t>(n - j);
    const VF32 v = hn::IfThenElse(hn::FirstN(d, part), LoadPart(d, x + j, part), lowest);
    best = hn::IfThenElse(hn::Gt(v, best), v, best);
  }
  return hn::GetLane(hn::MaxOfLanes(d, best));
}

SoftmaxRow Prepare(const float* x, int64_t n, float* exps) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  SoftmaxRow row;
  row.max = MaxOf(x, n);
  const VF32 max = hn::Set(d, row.max);
  VF32 sum = hn::Zero(d);
  for (int64_t j = 0; j < n; j += lanes) {
    const size_t part = static_cast<size_t>(n - j);
    VF32 e = ExpOf(d, hn::Sub(LoadPart(d, x + j, part), max));
    if (part < static_cast<size_t>(lanes)) e = hn::IfThenElseZero(hn::FirstN(d, part), e);
    sum = hn::Add(sum, e);
    if (exps != nullptr) StorePart(e, d, exps + j, part);
  }
  const float total = hn::GetLane(hn::SumOfLanes(d, sum));
  row.log_sum = std::log(total);
  row.inverse_sum = 1 / total;
  return row;
}

void Scale(const float* exps, float factor, int64_t n, float* y) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t j = 0; j < n; j += lanes) {
    const size_t part = static_cast<size_t>(n - j);
    StorePart(hn::Mul(LoadPart(d, exps + j, part), hn::Set(d, factor)), d, y + j, part);
  }
}

void Shift(const float* x, float shift, int64_t n, float* y) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t j = 0; j < n; j += lanes) {
    const size_t part = static_cast<size_t>(n - j);
    StorePart(hn::Sub(LoadPart(d, x + j, part), hn::Set(d, shift)), d, y + j, part);
  }
}

float Weighted(const float* p, const float* x, float shift, int64_t n) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  VF32 sum = hn::Zero(d);
  for (int64_t j = 0; j < n; j += lanes) {
    const size_t part = static_cast<size_t>(n - j);
    const VF32 weight = LoadPart(d, p + j, part);
    const VF32 term = hn::Mul(weight, hn::Sub(LoadPart(d, x + j, part), hn::Set(d, shift)));
    sum = hn::Add(sum, hn::IfThenZeroElse(hn::Eq(weight, hn::Zero(d)), term));
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void Difference(const float* exps, float factor, const float* p, int64_t n, float* y) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t j = 0; j < n; j += lanes) {
    const size_t part = static_cast<size_t>(n - j);
    StorePart(hn::MulSub(LoadPart(d, exps + j, part), hn::Set(d, factor), LoadPart(d, p + j, part)), d, y + j, part);
  }
}

}  // namespace

const SoftmaxSimd* SoftmaxTable() {
  static constexpr SoftmaxSimd table = {Prepare, Scale, Shift, Weighted, Difference};
  return &table;
}

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::cpu {
HWY_EXPORT(SoftmaxTable);
const SoftmaxSimd& GetSoftmaxSimd() { return *HWY_DYNAMIC_DISPATCH(SoftmaxTable)(); }
}  // namespace muster::cpu
#endif
