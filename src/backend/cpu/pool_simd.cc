#include "backend/cpu/pool_simd.h"

#include "backend/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/pool_simd.cc"
#include "hwy/foreach_target.h"
#include "backend/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace muster::cpu {
namespace HWY_NAMESPACE {
namespace {

using I32 = hn::RebindToSigned<F32>;

void Max(const PoolWindow& w, const float* x, int64_t channels, float* y) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < channels; c += lanes) {
    const size_t part = static_cast<size_t>(channels - c);
    VF32 best = LoadPart(d, x + c, part);
    for (int64_t i = 0; i < w.rows; ++i)
      for (int64_t j = 0; j < w.columns; ++j) {
        const VF32 v = LoadPart(d, x + i * w.row_stride + j * w.column_stride + c, part);
        best = hn::IfThenElse(hn::Or(hn::Gt(v, best), hn::IsNaN(v)), v, best);
      }
    StorePart(best, d, y + c, part);
  }
}

void MaxGradient(const PoolWindow& w, const float* x, const float* dy, int64_t channels, float* dx) {
  const F32 d;
  const I32 di;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < channels; c += lanes) {
    const size_t part = static_cast<size_t>(channels - c);
    VF32 best = LoadPart(d, x + c, part);
    auto best_cell = hn::Zero(di);
    int32_t cell = 0;
    for (int64_t i = 0; i < w.rows; ++i)
      for (int64_t j = 0; j < w.columns; ++j, ++cell) {
        const VF32 v = LoadPart(d, x + i * w.row_stride + j * w.column_stride + c, part);
        const auto better = hn::Or(hn::Gt(v, best), hn::And(hn::IsNaN(v), hn::Eq(best, best)));
        best = hn::IfThenElse(better, v, best);
        best_cell = hn::IfThenElse(hn::RebindMask(di, better), hn::Set(di, cell), best_cell);
      }
    const VF32 g = LoadPart(d, dy + c, part);
    cell = 0;
    for (int64_t i = 0; i < w.rows; ++i)
      for (int64_t j = 0; j < w.columns; ++j, ++cell) {
        float* to = dx + i * w.row_stride + j * w.column_stride + c;
        const auto chosen = hn::RebindMask(d, hn::Eq(best_cell, hn::Set(di, cell)));
        StorePart(hn::Add(LoadPart(d, to, part), hn::IfThenElseZero(chosen, g)), d, to, part);
      }
  }
}

void Average(const PoolWindow& w, const float* x, float factor, int64_t channels, float* y) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < channels; c += lanes) {
    const size_t part = static_cast<size_t>(channels - c);
    VF32 sum = hn::Zero(d);
    for (int64_t i = 0; i < w.rows; ++i)
      for (int64_t j = 0; j < w.columns; ++j)
        sum = hn::Add(sum, LoadPart(d, x + i * w.row_stride + j * w.column_stride + c, part));
    StorePart(hn::Mul(sum, hn::Set(d, factor)), d, y + c, part);
  }
}

void AverageGradient(const PoolWindow& w, const float* dy, const float* row_factors, const float* column_factors,
                     int64_t channels, float* dx) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < channels; c += lanes) {
    const size_t part = static_cast<size_t>(channels - c);
    VF32 sum = hn::Zero(d);
    for (int64_t i = 0; i < w.rows; ++i)
      for (int64_t j = 0; j < w.columns; ++j) {
        const VF32 g = LoadPart(d, dy + i * w.row_stride + j * w.column_stride + c, part);
        sum = hn::MulAdd(g, hn::Set(d, row_factors[i] * column_factors[j]), sum);
      }
    StorePart(sum, d, dx + c, part);
  }
}

}  // namespace

const PoolSimd* PoolTable() {
  static constexpr PoolSimd table = {Max, MaxGradient, Average, AverageGradient};
  return &table;
}

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::cpu {
HWY_EXPORT(PoolTable);
const PoolSimd& GetPoolSimd() { return *HWY_DYNAMIC_DISPATCH(PoolTable)(); }
}  // namespace muster::cpu
#endif
