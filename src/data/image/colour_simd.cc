#include "data/image/colour_simd.h"

#include <algorithm>

// Those of backend/cpu/simd_targets.h: AVX-512, AVX2, and the scalar form.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/image/colour_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace muster::data {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using F32 = hn::ScalableTag<float>;
using V = hn::Vec<F32>;

struct Pixels {
  V r, g, b;
};

V Clip01(F32 d, V x) { return hn::Min(hn::Max(x, hn::Zero(d)), hn::Set(d, 1)); }

// Calls change(pixels) for all of them, whole vectors at a time; the last few are padded, so that each pixel's result
// does not depend on where it stands.
template <typename Change>
void ForEachVector(float* rgb, int64_t pixels, Change change) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto apply = [&](float* at) {
    Pixels p;
    hn::LoadInterleaved3(d, at, p.r, p.g, p.b);
    p = change(d, p);
    hn::StoreInterleaved3(p.r, p.g, p.b, d, at);
  };
  int64_t i = 0;
  for (; i + lanes <= pixels; i += lanes) apply(rgb + 3 * i);
  if (i == pixels) return;
  HWY_ALIGN float last[3 * hn::MaxLanes(F32())] = {};
  std::copy(rgb + 3 * i, rgb + 3 * pixels, last);
  apply(last);
  std::copy_n(last, 3 * (pixels - i), rgb + 3 * i);
}

// With the hue unchanged, every channel's distance from the largest grows as the saturation does.
void Saturate(float* rgb, int64_t pixels, float factor) {
  ForEachVector(rgb, pixels, [factor](F32 d, const Pixels& p) {
    const V zero = hn::Zero(d), value = hn::Max(p.r, hn::Max(p.g, p.b));
    const V range = hn::Sub(value, hn::Min(p.r, hn::Min(p.g, p.b)));
    const V saturation = hn::IfThenElseZero(hn::Gt(value, zero), hn::Div(range, value));
    const V wanted = Clip01(d, hn::Mul(saturation, hn::Set(d, factor)));
    const V ratio = hn::IfThenElseZero(hn::Gt(saturation, zero), hn::Div(wanted, saturation));
    const auto moved = [&](V x) { return hn::Sub(value, hn::Mul(hn::Sub(value, x), ratio)); };
    return Pixels{moved(p.r), moved(p.g), moved(p.b)};
  });
}

// The hue in sixths of a turn. Division by a range of 0 does not matter: such a pixel is left alone.
V HueInSixths(F32 d, const Pixels& p, V value, V range) {
  const V of_red = hn::Div(hn::Sub(p.g, p.b), range);
  const V of_green = hn::Add(hn::Div(hn::Sub(p.b, p.r), range), hn::Set(d, 2));
  const V of_blue = hn::Add(hn::Div(hn::Sub(p.r, p.g), range), hn::Set(d, 4));
  return hn::IfThenElse(hn::Eq(value, p.r), of_red, hn::IfThenElse(hn::Eq(value, p.g), of_green, of_blue));
}

void TurnHue(float* rgb, int64_t pixels, float turns) {
  ForEachVector(rgb, pixels, [turns](F32 d, const Pixels& p) {
    const V value = hn::Max(p.r, hn::Max(p.g, p.b)), least = hn::Min(p.r, hn::Min(p.g, p.b));
    const V range = hn::Sub(value, least);
    V hue = hn::Add(hn::Mul(HueInSixths(d, p, value, range), hn::Set(d, 1.0f / 6)), hn::Set(d, turns));
    hue = hn::Mul(hn::Sub(hue, hn::Floor(hue)), hn::Set(d, 6));
    const V one = hn::Set(d, 1), two = hn::Set(d, 2);
    const auto distance = [&](float from) { return hn::Abs(hn::Sub(hue, hn::Set(d, from))); };
    const auto channel = [&](V share, V before) {
      const V turned = hn::Add(least, hn::Mul(range, Clip01(d, share)));
      return hn::IfThenElse(hn::Gt(range, hn::Zero(d)), turned, before);
    };
    return Pixels{channel(hn::Sub(distance(3), one), p.r), channel(hn::Sub(two, distance(2)), p.g),
                  channel(hn::Sub(two, distance(4)), p.b)};
  });
}

}  // namespace

const ColourSimd* ColourTable() {
  static constexpr ColourSimd table = {Saturate, TurnHue};
  return &table;
}

}  // namespace HWY_NAMESPACE
}  // namespace muster::data
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::data {
HWY_EXPORT(ColourTable);
const ColourSimd& GetColourSimd() { return *HWY_DYNAMIC_DISPATCH(ColourTable)(); }
}  // namespace muster::data
#endif
