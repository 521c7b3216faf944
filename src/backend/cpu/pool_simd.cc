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

// A window of a size known here, or of any size (0).
template <int kRows, int kColumns>
struct Cells {
  const PoolWindow& w;
  HWY_INLINE int64_t rows() const { return kRows > 0 ? kRows : w.rows; }
  HWY_INLINE int64_t columns() const { return kColumns > 0 ? kColumns : w.columns; }
};

template <int kRows, int kColumns, typename T>
void MaxAs(const PoolWindow& w, const T* x, int64_t channels, T* y) {
  const F32 d;
  const Cells<kRows, kColumns> cells{w};
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < channels; c += lanes) {
    const size_t part = static_cast<size_t>(channels - c);
    VF32 best = LoadPart(d, x + c, part);
    for (int64_t i = 0; i < cells.rows(); ++i)
      for (int64_t j = 0; j < cells.columns(); ++j) {
        const VF32 v = LoadPart(d, x + i * w.row_stride + j * w.column_stride + c, part);
        best = hn::IfThenElse(hn::Or(hn::Gt(v, best), hn::IsNaN(v)), v, best);
      }
    StorePart(best, d, y + c, part);
  }
}

template <typename T>
void Max(const PoolWindow& w, const T* x, int64_t channels, T* y) {
  if (w.rows == 2 && w.columns == 2) return MaxAs<2, 2>(w, x, channels, y);
  if (w.rows == 3 && w.columns == 3) return MaxAs<3, 3>(w, x, channels, y);
  MaxAs<0, 0>(w, x, channels, y);
}

template <int kRows, int kColumns, bool kWrites, typename T, typename D>
void MaxGradientAs(bool relu, const PoolWindow& w, const T* x, const T* dy, int64_t channels, D* dx) {
  const F32 d;
  const I32 di;
  const Cells<kRows, kColumns> cells{w};
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < channels; c += lanes) {
    const size_t part = static_cast<size_t>(channels - c);
    VF32 best = LoadPart(d, x + c, part);
    auto best_cell = hn::Zero(di);
    int32_t cell = 0;
    for (int64_t i = 0; i < cells.rows(); ++i)
      for (int64_t j = 0; j < cells.columns(); ++j, ++cell) {
        const VF32 v = LoadPart(d, x + i * w.row_stride + j * w.column_stride + c, part);
        const auto better = hn::Or(hn::Gt(v, best), hn::And(hn::IsNaN(v), hn::Eq(best, best)));
        best = hn::IfThenElse(better, v, best);
        best_cell = hn::IfThenElse(hn::RebindMask(di, better), hn::Set(di, cell), best_cell);
      }
    VF32 g = LoadPart(d, dy + c, part);
    if (relu) g = hn::IfThenElseZero(hn::Gt(best, hn::Zero(d)), g);
    cell = 0;
    for (int64_t i = 0; i < cells.rows(); ++i)
      for (int64_t j = 0; j < cells.columns(); ++j, ++cell) {
        D* to = dx + i * w.row_stride + j * w.column_stride + c;
        const VF32 value = hn::IfThenElseZero(hn::RebindMask(d, hn::Eq(best_cell, hn::Set(di, cell))), g);
        StorePart(kWrites ? value : hn::Add(LoadPart(d, to, part), value), d, to, part);
      }
  }
}

template <bool kWrites, typename T, typename D>
void MaxGradientInto(bool relu, const PoolWindow& w, const T* x, const T* dy, int64_t channels, D* dx) {
  if (w.rows == 2 && w.columns == 2) return MaxGradientAs<2, 2, kWrites>(relu, w, x, dy, channels, dx);
  if (w.rows == 3 && w.columns == 3) return MaxGradientAs<3, 3, kWrites>(relu, w, x, dy, channels, dx);
  MaxGradientAs<0, 0, kWrites>(relu, w, x, dy, channels, dx);
}

template <typename T, typename D>
void MaxGradient(MaxGradientMode mode, const PoolWindow& w, const T* x, const T* dy, int64_t channels, D* dx) {
  mode.writes ? MaxGradientInto<true>(mode.relu, w, x, dy, channels, dx)
              : MaxGradientInto<false>(mode.relu, w, x, dy, channels, dx);
}

template <typename T>
void Average(const PoolWindow& w, const T* x, float factor, int64_t channels, T* y) {
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

template <typename T>
void AverageGradient(const PoolWindow& w, const T* dy, const float* row_factors, const float* column_factors,
                     int64_t channels, T* dx) {
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

template <typename T>
const PoolSimd<T>* TableOf() {
  static constexpr PoolSimd<T> table = {Max<T>, MaxGradient<T, T>, MaxGradient<T, float>, Average<T>,
                                        AverageGradient<T>};
  return &table;
}

const PoolSimd<float>* PoolTable() { return TableOf<float>(); }
const PoolSimd<BFloat16>* PoolHalfTable() { return TableOf<BFloat16>(); }

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::cpu {
HWY_EXPORT(PoolTable);
HWY_EXPORT(PoolHalfTable);
template <>
const PoolSimd<float>& GetPoolSimd() {
  return *HWY_DYNAMIC_DISPATCH(PoolTable)();
}
template <>
const PoolSimd<BFloat16>& GetPoolSimd() {
  return *HWY_DYNAMIC_DISPATCH(PoolHalfTable)();
}
}  // namespace muster::cpu
#endif
