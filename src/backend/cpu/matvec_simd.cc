#include "backend/cpu/matvec_simd.h"

#include "backend/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/matvec_simd.cc"
#include "hwy/foreach_target.h"
#include "backend/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace muster::cpu {
namespace HWY_NAMESPACE {
namespace {

template <int kRows>
void DotsOfRows(const float* a, int64_t k, int64_t stride, const float* v, float* out) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  VF32 sums[kRows];
  for (int r = 0; r < kRows; ++r) sums[r] = hn::Zero(d);
  for (int64_t i = 0; i < k; i += lanes) {
    const size_t part = static_cast<size_t>(k - i);
    const VF32 x = LoadPart(d, v + i, part);
    for (int r = 0; r < kRows; ++r) sums[r] = hn::MulAdd(LoadPart(d, a + r * stride + i, part), x, sums[r]);
  }
  for (int r = 0; r < kRows; ++r) out[r] = hn::GetLane(hn::SumOfLanes(d, sums[r]));
}

void Dots(const float* a, int64_t rows, int64_t k, int64_t stride, const float* v, float* out) {
  if (rows == kDotRows) return DotsOfRows<kDotRows>(a, k, stride, v, out);
  for (int64_t r = 0; r < rows; ++r) DotsOfRows<1>(a + r * stride, k, stride, v, out + r);
}

void WeightedRows(const float* a, int64_t k, int64_t columns, int64_t stride, const float* v, float* out) {
  constexpr int kVectors = 4;
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t j = 0; j < columns; j += kVectors * lanes) {
    VF32 sums[kVectors];
    for (int u = 0; u < kVectors; ++u) sums[u] = hn::Zero(d);
    const int64_t left = columns - j;
    if (left >= kVectors * lanes) {
      for (int64_t i = 0; i < k; ++i) {
        const VF32 w = hn::Set(d, v[i]);
        for (int u = 0; u < kVectors; ++u)
          sums[u] = hn::MulAdd(hn::LoadU(d, a + i * stride + j + u * lanes), w, sums[u]);
      }
      for (int u = 0; u < kVectors; ++u) hn::StoreU(sums[u], d, out + j + u * lanes);
      continue;
    }
    for (int64_t c = 0; c < left; c += lanes) {
      const size_t part = static_cast<size_t>(left - c);
      VF32 sum = hn::Zero(d);
      for (int64_t i = 0; i < k; ++i)
        sum = hn::MulAdd(LoadPart(d, a + i * stride + j + c, part), hn::Set(d, v[i]), sum);
      StorePart(sum, d, out + j + c, part);
    }
  }
}

void Scaled(float scale, const float* b, const float* bias, bool relu, int64_t n, float* out) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const VF32 s = hn::Set(d, scale);
  for (int64_t j = 0; j < n; j += lanes) {
    const size_t part = static_cast<size_t>(n - j);
    VF32 v = hn::Mul(s, LoadPart(d, b + j, part));
    if (bias != nullptr) v = hn::Add(v, LoadPart(d, bias + j, part));
    if (relu) v = KeepPositive(d, v);
    StorePart(v, d, out + j, part);
  }
}

}  // namespace

const MatVecSimd* MatVecTable() {
  static constexpr MatVecSimd table = {Dots, WeightedRows, Scaled};
  return &table;
}

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::cpu {
HWY_EXPORT(MatVecTable);
const MatVecSimd& GetMatVecSimd() { return *HWY_DYNAMIC_DISPATCH(MatVecTable)(); }
}  // namespace muster::cpu
#endif
