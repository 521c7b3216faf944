#include "backend/cpu/lrn_simd.h"

#include <algorithm>

#include "backend/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/lrn_simd.cc"
#include "hwy/foreach_target.h"
#include "backend/cpu/simd_math_inl.h"

HWY_BEFORE_NAMESPACE();
namespace muster::cpu {
namespace HWY_NAMESPACE {
namespace {

// s^-beta; the exponents that networks use take square roots.
HWY_INLINE VF32 NegativePower(F32 d, VF32 s, float beta) {
  const VF32 one = hn::Set(d, 1.0f);
  if (beta == 0.75f) {
    const VF32 root = hn::Sqrt(s);
    return hn::Div(one, hn::Mul(root, hn::Sqrt(root)));
  }
  if (beta == 0.5f) return hn::Div(one, hn::Sqrt(s));
  if (beta == 1.0f) return hn::Div(one, s);
  return ExpOf(d, hn::Mul(hn::Set(d, -beta), LogOf(d, s)));
}

// Values with zeros on both sides, so that windows need no ends.
class Row {
 public:
  Row(const LrnRow& row, float* scratch, int64_t which)
      : radius_(row.radius), values_(scratch + which * LrnScratchFloats(row) / 2 + row.radius) {
    std::fill_n(values_ - radius_, radius_, 0.0f);
    std::fill_n(values_ + row.channels, radius_ + 16, 0.0f);
  }
  float* at(int64_t c) const { return values_ + c; }
  HWY_INLINE VF32 Window(F32 d, int64_t c) const {
    VF32 sum = hn::Zero(d);
    for (int64_t j = -radius_; j <= radius_; ++j) sum = hn::Add(sum, hn::LoadU(d, values_ + c + j));
    return sum;
  }

 private:
  const int64_t radius_;
  float* const values_;
};

HWY_INLINE void StoreSquares(F32 d, const LrnRow& row, const float* x, const Row& squares) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < row.channels; c += lanes) {
    const size_t part = static_cast<size_t>(row.channels - c);
    const VF32 v = LoadPart(d, x + c, part);
    StorePart(hn::Mul(v, v), d, squares.at(c), part);
  }
}

HWY_INLINE VF32 Scale(F32 d, const LrnRow& row, const Row& squares, int64_t c) {
  return hn::MulAdd(hn::Set(d, row.alpha), squares.Window(d, c), hn::Set(d, row.bias));
}

void Forward(const LrnRow& row, const float* x, float* scratch, float* y) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Row squares(row, scratch, 0);
  StoreSquares(d, row, x, squares);
  for (int64_t c = 0; c < row.channels; c += lanes) {
    const size_t part = static_cast<size_t>(row.channels - c);
    StorePart(hn::Mul(LoadPart(d, x + c, part), NegativePower(d, Scale(d, row, squares, c), row.beta)), d, y + c, part);
  }
}

void Backward(const LrnRow& row, const float* dy, const float* x, const float* y, float* scratch, float* dx) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Row squares(row, scratch, 0), terms(row, scratch, 1);
  StoreSquares(d, row, x, squares);
  for (int64_t c = 0; c < row.channels; c += lanes) {
    const size_t part = static_cast<size_t>(row.channels - c);
    const VF32 product = hn::Mul(LoadPart(d, dy + c, part), LoadPart(d, y + c, part));
    StorePart(hn::Div(product, Scale(d, row, squares, c)), d, terms.at(c), part);
  }
  const VF32 factor = hn::Set(d, -2 * row.alpha * row.beta);
  for (int64_t c = 0; c < row.channels; c += lanes) {
    const size_t part = static_cast<size_t>(row.channels - c);
    const VF32 direct = hn::Mul(LoadPart(d, dy + c, part), NegativePower(d, Scale(d, row, squares, c), row.beta));
    const VF32 across = hn::Mul(hn::Mul(factor, LoadPart(d, x + c, part)), terms.Window(d, c));
    StorePart(hn::Add(direct, across), d, dx + c, part);
  }
}

}  // namespace

const LrnSimd* LrnTable() {
  static constexpr LrnSimd table = {Forward, Backward};
  return &table;
}

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::cpu {
HWY_EXPORT(LrnTable);
const LrnSimd& GetLrnSimd() { return *HWY_DYNAMIC_DISPATCH(LrnTable)(); }
}  // namespace muster::cpu
#endif
