#include "backend/cpu/apply_simd.h"

#include "backend/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/apply_simd.cc"
#include "hwy/foreach_target.h"
#include "backend/cpu/simd_math_inl.h"

HWY_BEFORE_NAMESPACE();
namespace muster::cpu {
namespace HWY_NAMESPACE {
namespace {

// One vector of everything an update reads and writes.
struct Values {
  VF32 var, slots[3], grad;
};

// The scalars as vectors.
struct Scalars {
  VF32 v[5];
  Scalars(F32 d, const UpdateScalars& s) {
    for (size_t i = 0; i < s.size(); ++i) v[i] = hn::Set(d, s[i]);
  }
};

// a/b, and 0 where a is 0 whatever b is: 0/sqrt(0) would spoil the padding.
HWY_INLINE VF32 Ratio(F32 d, VF32 a, VF32 b) { return hn::IfThenZeroElse(hn::Eq(a, hn::Zero(d)), hn::Div(a, b)); }
// a + (b - a) * t
HWY_INLINE VF32 Towards(VF32 a, VF32 b, VF32 t) { return hn::MulAdd(hn::Sub(b, a), t, a); }

// Scalars: alpha.
struct GradientDescent {
  static constexpr int kSlots = 0;
  static HWY_INLINE void Step(F32, const Scalars& s, Values& x) { x.var = hn::NegMulAdd(s.v[0], x.grad, x.var); }
};

// Scalars: lr, momentum. Slot: accum.
template <bool kNesterov>
struct Momentum {
  static constexpr int kSlots = 1;
  static HWY_INLINE void Step(F32, const Scalars& s, Values& x) {
    x.slots[0] = hn::MulAdd(x.slots[0], s.v[1], x.grad);
    const VF32 move = kNesterov ? hn::MulAdd(s.v[1], x.slots[0], x.grad) : x.slots[0];
    x.var = hn::NegMulAdd(s.v[0], move, x.var);
  }
};

// Scalars: lr, 1 - rho, momentum, epsilon. Slots: ms, mom, or mg, ms, mom.
template <bool kCentered>
struct RMSProp {
  static constexpr int kSlots = kCentered ? 3 : 2;
  static HWY_INLINE void Step(F32 d, const Scalars& s, Values& x) {
    VF32& ms = x.slots[kCentered ? 1 : 0];
    VF32& mom = x.slots[kCentered ? 2 : 1];
    ms = Towards(ms, hn::Mul(x.grad, x.grad), s.v[1]);
    VF32 denominator = hn::Add(ms, s.v[3]);
    if (kCentered) {
      x.slots[0] = Towards(x.slots[0], x.grad, s.v[1]);
      denominator = hn::Add(hn::NegMulAdd(x.slots[0], x.slots[0], ms), s.v[3]);
    }
    mom = hn::MulAdd(s.v[2], mom, Ratio(d, hn::Mul(s.v[0], x.grad), hn::Sqrt(denominator)));
    x.var = hn::Sub(x.var, mom);
  }
};

// Scalars: lr * sqrt(1 - beta2_power) / (1 - beta1_power), 1 - beta1, 1 - beta2, epsilon, beta1. Slots: m, v.
template <bool kNesterov>
struct Adam {
  static constexpr int kSlots = 2;
  static HWY_INLINE void Step(F32 d, const Scalars& s, Values& x) {
    x.slots[0] = Towards(x.slots[0], x.grad, s.v[1]);
    x.slots[1] = Towards(x.slots[1], hn::Mul(x.grad, x.grad), s.v[2]);
    const VF32 ahead = kNesterov ? hn::MulAdd(x.grad, s.v[1], hn::Mul(s.v[4], x.slots[0])) : x.slots[0];
    x.var = hn::Sub(x.var, Ratio(d, hn::Mul(s.v[0], ahead), hn::Add(hn::Sqrt(x.slots[1]), s.v[3])));
  }
};

// Scalars: lr / (1 - beta1_power), 1 - beta1, beta2, epsilon. Slots: m, v.
struct AdaMax {
  static constexpr int kSlots = 2;
  static HWY_INLINE void Step(F32 d, const Scalars& s, Values& x) {
    x.slots[0] = Towards(x.slots[0], x.grad, s.v[1]);
    x.slots[1] = hn::Max(hn::Mul(s.v[2], x.slots[1]), hn::Abs(x.grad));
    x.var = hn::Sub(x.var, Ratio(d, hn::Mul(s.v[0], x.slots[0]), hn::Add(x.slots[1], s.v[3])));
  }
};

// Scalars: lr. Slot: accum.
struct Adagrad {
  static constexpr int kSlots = 1;
  static HWY_INLINE void Step(F32 d, const Scalars& s, Values& x) {
    x.slots[0] = hn::MulAdd(x.grad, x.grad, x.slots[0]);
    x.var = hn::Sub(x.var, Ratio(d, hn::Mul(s.v[0], x.grad), hn::Sqrt(x.slots[0])));
  }
};

// Scalars: lr, rho, 1 - rho, epsilon. Slots: accum, accum_update.
struct Adadelta {
  static constexpr int kSlots = 2;
  static HWY_INLINE void Step(F32 d, const Scalars& s, Values& x) {
    x.slots[0] = hn::MulAdd(s.v[1], x.slots[0], hn::Mul(s.v[2], hn::Mul(x.grad, x.grad)));
    const VF32 reach = hn::Sqrt(hn::Add(x.slots[1], s.v[3]));
    const VF32 update = Ratio(d, hn::Mul(reach, x.grad), hn::Sqrt(hn::Add(x.slots[0], s.v[3])));
    x.slots[1] = hn::MulAdd(s.v[1], x.slots[1], hn::Mul(s.v[2], hn::Mul(update, update)));
    x.var = hn::NegMulAdd(s.v[0], update, x.var);
  }
};

// Scalars: 1 / lr, l1, 2 * l2, -lr_power. Slots: accum, linear.
struct Ftrl {
  static constexpr int kSlots = 2;
  static HWY_INLINE VF32 Power(F32 d, VF32 x, VF32 exponent) {
    const VF32 half = hn::Set(d, 0.5f);
    const VF32 zero = hn::Zero(d);
    // The usual exponent is exact; 0 to a positive power is 0.
    return hn::IfThenElse(hn::Eq(exponent, half), hn::Sqrt(x),
                          hn::IfThenZeroElse(hn::Eq(x, zero), ExpOf(d, hn::Mul(exponent, LogOf(d, x)))));
  }
  static HWY_INLINE void Step(F32 d, const Scalars& s, Values& x) {
    const VF32 now = hn::MulAdd(x.grad, x.grad, x.slots[0]);
    const VF32 before = Power(d, x.slots[0], s.v[3]), after = Power(d, now, s.v[3]);
    const VF32 z = hn::NegMulAdd(hn::Mul(hn::Sub(after, before), s.v[0]), x.var, hn::Add(x.slots[1], x.grad));
    x.slots[0] = now;
    x.slots[1] = z;
    const VF32 moved = hn::Div(hn::Sub(hn::CopySign(s.v[1], z), z), hn::MulAdd(after, s.v[0], s.v[2]));
    x.var = hn::IfThenElseZero(hn::Gt(hn::Abs(z), s.v[1]), moved);
  }
};

// Scalars: alpha, alpha * l1, 1 / (1 + alpha * l2).
struct ProximalGradientDescent {
  static constexpr int kSlots = 0;
  static HWY_INLINE void Step(F32 d, const Scalars& s, Values& x) {
    const VF32 moved = hn::NegMulAdd(s.v[0], x.grad, x.var);
    const VF32 shrunk = hn::CopySign(hn::Max(hn::Sub(hn::Abs(moved), s.v[1]), hn::Zero(d)), moved);
    x.var = hn::Mul(hn::IfThenElse(hn::Gt(s.v[1], hn::Zero(d)), shrunk, moved), s.v[2]);
  }
};

template <typename Rule, bool kDecay>
HWY_INLINE void UpdatePart(F32 d, const UpdateArrays& a, const Scalars& s, int64_t i, size_t part) {
  Values x;
  x.var = LoadPart(d, a.var + i, part);
  x.grad = LoadPart(d, a.grad + i, part);
  if (kDecay) x.grad = hn::MulAdd(hn::Set(d, a.weight_decay), x.var, x.grad);
  for (int k = 0; k < Rule::kSlots; ++k) x.slots[k] = LoadPart(d, a.slots[static_cast<size_t>(k)] + i, part);
  Rule::Step(d, s, x);
  for (int k = 0; k < Rule::kSlots; ++k) StorePart(x.slots[k], d, a.slots[static_cast<size_t>(k)] + i, part);
  StorePart(x.var, d, a.var + i, part);
}

template <typename Rule, bool kDecay>
void UpdateAs(const UpdateArrays& a, const UpdateScalars& scalars, int64_t n) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Scalars s(d, scalars);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) UpdatePart<Rule, kDecay>(d, a, s, i, static_cast<size_t>(lanes));
  if (i < n) UpdatePart<Rule, kDecay>(d, a, s, i, static_cast<size_t>(n - i));
}

template <typename Rule>
void Update(const UpdateArrays& a, const UpdateScalars& scalars, int64_t n) {
  a.weight_decay == 0 ? UpdateAs<Rule, false>(a, scalars, n) : UpdateAs<Rule, true>(a, scalars, n);
}

}  // namespace

const UpdateFn* UpdateTable() {
  // In the order of the enumeration.
  static constexpr UpdateFn table[] = {
      Update<GradientDescent>, Update<Momentum<false>>, Update<Momentum<true>>, Update<RMSProp<false>>,
      Update<RMSProp<true>>,   Update<Adam<false>>,     Update<Adam<true>>,     Update<AdaMax>,
      Update<Adagrad>,         Update<Adadelta>,        Update<Ftrl>,           Update<ProximalGradientDescent>};
  static_assert(sizeof(table) / sizeof(table[0]) == kNumUpdateRules);
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::cpu {
HWY_EXPORT(UpdateTable);
UpdateFn GetUpdate(UpdateRule rule) { return HWY_DYNAMIC_DISPATCH(UpdateTable)()[static_cast<size_t>(rule)]; }
}  // namespace muster::cpu
#endif
