// Element-wise operations of one input. Functions of float32 are computed in float64 and rounded once.

#include <cmath>
#include <type_traits>

#include "backend/reference/reference_rows.h"
#include "backend/reference/rows.h"

namespace muster {
namespace {

using namespace reference;

struct Neg {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(-static_cast<std::make_unsigned_t<T>>(x));
    else return -x;
  }
};
struct Square {
  template <typename T>
  T operator()(T x) const {
    using U = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
    return static_cast<T>(static_cast<U>(x) * static_cast<U>(x));
  }
};
struct Abs {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) return std::abs(x);
    else return x < 0 ? Neg()(x) : x;
  }
};
struct Sign {
  template <typename T>
  T operator()(T x) const {
    return static_cast<T>((x > 0) - (x < 0));
  }
};
struct Sqrt {
  double operator()(double x) const { return std::sqrt(x); }
};
struct Rsqrt {
  double operator()(double x) const { return 1 / std::sqrt(x); }
};
struct Reciprocal {
  double operator()(double x) const { return 1 / x; }
};
struct Exp {
  double operator()(double x) const { return std::exp(x); }
};
struct Log {
  double operator()(double x) const { return std::log(x); }
};
struct Cos {
  double operator()(double x) const { return std::cos(x); }
};
struct Sin {
  double operator()(double x) const { return std::sin(x); }
};
struct Floor {
  double operator()(double x) const { return std::floor(x); }
};
struct Ceil {
  double operator()(double x) const { return std::ceil(x); }
};
struct IsFinite {
  template <typename T>
  bool operator()(T x) const {
    return std::isfinite(x);
  }
};
struct LogicalNot {
  bool operator()(bool x) const { return !x; }
};

template <typename Op>
struct UnaryKernel {
  template <typename T>
  static PreparedKernel Prepare(const KernelRequest& request, const DeviceCaps&) {
    using Returned = decltype(Op()(T{}));
    using Result = std::conditional_t<std::is_same_v<Returned, bool>, bool, T>;
    const int64_t count = ValuesIn(request.outputs[0]);
    auto launch = [=](const LaunchArgs& args) {
      const T* x = args.in<T>(0);
      Result* y = args.out<Result>(0);
      for (int64_t i = 0; i < count; ++i) y[i] = static_cast<Result>(Op()(x[i]));
    };
    if constexpr (std::is_same_v<Result, T>) return {MakeKernel(launch), 0, {{0, 0}}};
    return {MakeKernel(launch), 0, {}};
  }
};

template <typename Op>
void AddFloating(std::vector<KernelRow>& rows, OpKind kind) {
  AddRows<UnaryKernel<Op>, float, double>(rows, kind);
}
template <typename Op>
void AddNumeric(std::vector<KernelRow>& rows, OpKind kind) {
  AddRows<UnaryKernel<Op>, float, double, int32_t, int64_t, uint8_t>(rows, kind);
}

}  // namespace

std::vector<KernelRow> ReferenceUnaryRows() {
  std::vector<KernelRow> rows;
  AddNumeric<Neg>(rows, OpKind::kNeg);
  AddNumeric<Square>(rows, OpKind::kSquare);
  AddNumeric<Abs>(rows, OpKind::kAbs);
  AddNumeric<Sign>(rows, OpKind::kSign);
  AddFloating<Sqrt>(rows, OpKind::kSqrt);
  AddFloating<Rsqrt>(rows, OpKind::kRsqrt);
  AddFloating<Reciprocal>(rows, OpKind::kReciprocal);
  AddFloating<Exp>(rows, OpKind::kExp);
  AddFloating<Log>(rows, OpKind::kLog);
  AddFloating<Cos>(rows, OpKind::kCos);
  AddFloating<Sin>(rows, OpKind::kSin);
  AddFloating<Floor>(rows, OpKind::kFloor);
  AddFloating<Ceil>(rows, OpKind::kCeil);
  AddFloating<IsFinite>(rows, OpKind::kIsFinite);
  AddRows<UnaryKernel<LogicalNot>, bool>(rows, OpKind::kLogicalNot);
  return rows;
}

}  // namespace muster
