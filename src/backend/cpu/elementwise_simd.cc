#include "backend/cpu/elementwise_simd.h"

#include "backend/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/elementwise_simd.cc"
#include "hwy/foreach_target.h"
#include "backend/cpu/simd_math_inl.h"

HWY_BEFORE_NAMESPACE();
namespace muster::cpu {
namespace HWY_NAMESPACE {
namespace {

// value where a is NaN or b is NaN: a + b, which is NaN then.
HWY_INLINE VF32 OrEitherNan(VF32 a, VF32 b, VF32 value) {
  return hn::IfThenElse(hn::And(hn::Eq(a, a), hn::Eq(b, b)), value, hn::Add(a, b));
}

// clang-format off
struct AddOp { HWY_INLINE VF32 operator()(F32, VF32 a, VF32 b) const { return hn::Add(a, b); } };
struct SubOp { HWY_INLINE VF32 operator()(F32, VF32 a, VF32 b) const { return hn::Sub(a, b); } };
struct MulOp { HWY_INLINE VF32 operator()(F32, VF32 a, VF32 b) const { return hn::Mul(a, b); } };
struct DivOp { HWY_INLINE VF32 operator()(F32, VF32 a, VF32 b) const { return hn::Div(a, b); } };
struct MaximumOp { HWY_INLINE VF32 operator()(F32, VF32 a, VF32 b) const { return OrEitherNan(a, b, hn::Max(a, b)); } };
struct MinimumOp { HWY_INLINE VF32 operator()(F32, VF32 a, VF32 b) const { return OrEitherNan(a, b, hn::Min(a, b)); } };
// clang-format on
struct SquaredDifferenceOp {
  HWY_INLINE VF32 operator()(F32, VF32 a, VF32 b) const {
    const VF32 c = hn::Sub(a, b);
    return hn::Mul(c, c);
  }
};
// Gradients of activations; a is dy and b what the operation's second input is, but for sigmoid and tanh: a is y, b is
// dy.
struct ReluGradOp {
  HWY_INLINE VF32 operator()(F32 d, VF32 dy, VF32 y) const { return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), dy); }
};
struct Relu6GradOp {
  HWY_INLINE VF32 operator()(F32 d, VF32 dy, VF32 y) const {
    return hn::IfThenElseZero(hn::And(hn::Gt(y, hn::Zero(d)), hn::Lt(y, hn::Set(d, 6.0f))), dy);
  }
};
struct SigmoidGradOp {
  HWY_INLINE VF32 operator()(F32 d, VF32 y, VF32 dy) const {
    return hn::Mul(hn::Mul(dy, y), hn::Sub(hn::Set(d, 1.0f), y));
  }
};
struct TanhGradOp {
  HWY_INLINE VF32 operator()(F32 d, VF32 y, VF32 dy) const {
    return hn::Mul(dy, hn::NegMulAdd(y, y, hn::Set(d, 1.0f)));
  }
};
struct SoftplusGradOp {
  HWY_INLINE VF32 operator()(F32 d, VF32 dy, VF32 x) const { return hn::Mul(dy, SigmoidOf(d, x)); }
};

// clang-format off
struct NegOp { HWY_INLINE VF32 operator()(F32, VF32 x) const { return hn::Neg(x); } };
struct SquareOp { HWY_INLINE VF32 operator()(F32, VF32 x) const { return hn::Mul(x, x); } };
struct SqrtOp { HWY_INLINE VF32 operator()(F32, VF32 x) const { return hn::Sqrt(x); } };
struct RsqrtOp { HWY_INLINE VF32 operator()(F32 d, VF32 x) const { return hn::Div(hn::Set(d, 1.0f), hn::Sqrt(x)); } };
struct ReciprocalOp { HWY_INLINE VF32 operator()(F32 d, VF32 x) const { return hn::Div(hn::Set(d, 1.0f), x); } };
struct AbsOp { HWY_INLINE VF32 operator()(F32, VF32 x) const { return hn::Abs(x); } };
// clang-format on
struct SignOp {
  HWY_INLINE VF32 operator()(F32 d, VF32 x) const {
    return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Zero(d), OrNan(x, hn::CopySign(hn::Set(d, 1.0f), x)));
  }
};
// clang-format off
struct ExpOp { HWY_INLINE VF32 operator()(F32 d, VF32 x) const { return ExpOf(d, x); } };
struct LogOp { HWY_INLINE VF32 operator()(F32 d, VF32 x) const { return LogOf(d, x); } };
struct FloorOp { HWY_INLINE VF32 operator()(F32, VF32 x) const { return hn::Floor(x); } };
struct CeilOp { HWY_INLINE VF32 operator()(F32, VF32 x) const { return hn::Ceil(x); } };
struct ReluOp { HWY_INLINE VF32 operator()(F32 d, VF32 x) const { return KeepPositive(d, x); } };
// clang-format on
struct Relu6Op {
  HWY_INLINE VF32 operator()(F32 d, VF32 x) const {
    const VF32 six = hn::Set(d, 6.0f);
    return hn::IfThenElse(hn::Gt(x, six), six, KeepPositive(d, x));
  }
};
// clang-format off
struct SigmoidOp { HWY_INLINE VF32 operator()(F32 d, VF32 x) const { return SigmoidOf(d, x); } };
struct TanhOp { HWY_INLINE VF32 operator()(F32 d, VF32 x) const { return TanhOf(d, x); } };
struct SoftplusOp { HWY_INLINE VF32 operator()(F32 d, VF32 x) const { return SoftplusOf(d, x); } };
// clang-format on

enum class Meeting { kBoth, kBScalar, kAScalar };

template <typename Op, Meeting kMeeting, typename T>
void BinaryLoop(const T* a, const T* b, T* out, int64_t n) {
  const F32 d;
  const Op op;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const VF32 a0 = Splat(d, a[0]), b0 = Splat(d, b[0]);  // before "out", which may be the same place, is written
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    StoreAll(op(d, kMeeting == Meeting::kAScalar ? a0 : LoadAll(d, a + i),
                kMeeting == Meeting::kBScalar ? b0 : LoadAll(d, b + i)),
             d, out + i);
  if (i == n) return;
  const size_t part = static_cast<size_t>(n - i);
  StorePart(op(d, kMeeting == Meeting::kAScalar ? a0 : LoadPart(d, a + i, part),
               kMeeting == Meeting::kBScalar ? b0 : LoadPart(d, b + i, part)),
            d, out + i, part);
}

template <typename Op, typename T>
void UnaryLoop(const T* x, T* out, int64_t n) {
  const F32 d;
  const Op op;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) StoreAll(op(d, LoadAll(d, x + i)), d, out + i);
  if (i == n) return;
  const size_t part = static_cast<size_t>(n - i);
  StorePart(op(d, LoadPart(d, x + i, part)), d, out + i, part);
}

template <typename T>
void AddN(void* const* inputs, int64_t count, T* out, int64_t begin, int64_t end) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = begin; i < end; i += lanes) {
    const size_t part = static_cast<size_t>(end - i);
    VF32 sum = LoadPart(d, static_cast<const T*>(inputs[0]) + i, part);
    for (int64_t k = 1; k < count; ++k) sum = hn::Add(sum, LoadPart(d, static_cast<const T*>(inputs[k]) + i, part));
    StorePart(sum, d, out + i, part);
  }
}

template <typename Op, typename T>
constexpr BinaryLoops<T> Loops() {
  return {BinaryLoop<Op, Meeting::kBoth, T>, BinaryLoop<Op, Meeting::kBScalar, T>,
          BinaryLoop<Op, Meeting::kAScalar, T>};
}

template <typename T>
const ElementwiseSimd<T>* TableOf() {
  // In the order of the enumerations.
  static constexpr ElementwiseSimd<T> table = {
      {Loops<AddOp, T>(), Loops<SubOp, T>(), Loops<MulOp, T>(), Loops<DivOp, T>(), Loops<MaximumOp, T>(),
       Loops<MinimumOp, T>(), Loops<SquaredDifferenceOp, T>(), Loops<ReluGradOp, T>(), Loops<Relu6GradOp, T>(),
       Loops<SigmoidGradOp, T>(), Loops<TanhGradOp, T>(), Loops<SoftplusGradOp, T>()},
      {UnaryLoop<NegOp, T>, UnaryLoop<SquareOp, T>, UnaryLoop<SqrtOp, T>, UnaryLoop<RsqrtOp, T>,
       UnaryLoop<ReciprocalOp, T>, UnaryLoop<AbsOp, T>, UnaryLoop<SignOp, T>, UnaryLoop<ExpOp, T>, UnaryLoop<LogOp, T>,
       UnaryLoop<FloorOp, T>, UnaryLoop<CeilOp, T>, UnaryLoop<ReluOp, T>, UnaryLoop<Relu6Op, T>,
       UnaryLoop<SigmoidOp, T>, UnaryLoop<TanhOp, T>, UnaryLoop<SoftplusOp, T>},
      AddN<T>};
  return &table;
}

}  // namespace

const ElementwiseSimd<float>* ElementwiseTable() { return TableOf<float>(); }
const ElementwiseSimd<BFloat16>* ElementwiseHalfTable() { return TableOf<BFloat16>(); }

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::cpu {
HWY_EXPORT(ElementwiseTable);
HWY_EXPORT(ElementwiseHalfTable);
template <>
const ElementwiseSimd<float>& GetElementwiseSimd() {
  return *HWY_DYNAMIC_DISPATCH(ElementwiseTable)();
}
template <>
const ElementwiseSimd<BFloat16>& GetElementwiseSimd() {
  return *HWY_DYNAMIC_DISPATCH(ElementwiseHalfTable)();
}
}  // namespace muster::cpu
#endif
