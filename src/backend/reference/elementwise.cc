// Element-wise operations of two inputs: arithmetic, comparisons, logic.

#include <cmath>
#include <type_traits>

#include "backend/reference/reference_rows.h"
#include "backend/reference/rows.h"
#include "backend/reference/strided.h"
#include "muster/error.h"

namespace muster {
namespace {

using namespace reference;

// Integers wrap around, as in TensorFlow; unsigned arithmetic makes that well-defined.
template <typename T, typename F>
T Wrapping(T a, T b, F f) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return f(a, b);
  }
}

template <typename T>
T IntegerPower(T base, T exponent) {
  if (exponent < 0) throw InvalidArgument("integers to negative integer powers are not allowed");
  T result = 1;
  for (; exponent > 0; exponent = static_cast<T>(exponent >> 1)) {
    if (exponent & 1) result = Wrapping(result, base, [](auto x, auto y) { return x * y; });
    base = Wrapping(base, base, [](auto x, auto y) { return x * y; });
  }
  return result;
}

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return Wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};

struct Sub {
  template <typename T>
  T operator()(T a, T b) const {
    return Wrapping(a, b, [](auto x, auto y) { return x - y; });
  }
};

struct Mul {
  template <typename T>
  T operator()(T a, T b) const {
    return Wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};

struct Div {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) throw InvalidArgument("integer division by zero");
      if constexpr (std::is_signed_v<T>)
        if (b == -1) return Sub()(T{0}, a);  // the lowest integer has no positive twin
      return static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }
};

struct Pow {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) return IntegerPower(a, b);
    else return static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(b)));
  }
};

// NaN if either input is.
struct Maximum {
  template <typename T>
  T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};

struct Minimum {
  template <typename T>
  T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};

struct SquaredDifference {
  template <typename T>
  T operator()(T a, T b) const {
    const T d = Sub()(a, b);
    return Mul()(d, d);
  }
};

struct Equal {
  template <typename T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct NotEqual {
  template <typename T>
  bool operator()(T a, T b) const {
    return a != b;
  }
};
struct Less {
  template <typename T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct LessEqual {
  template <typename T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Greater {
  template <typename T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct GreaterEqual {
  template <typename T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};
struct LogicalAnd {
  bool operator()(bool a, bool b) const { return a && b; }
};
struct LogicalOr {
  bool operator()(bool a, bool b) const { return a || b; }
};

// An input may give its memory to the output if it has its shape and element size.
std::vector<std::pair<int, int>> InPlace(const KernelRequest& request) {
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < 2; ++i)
    if (request.in(i) == request.out(0) && request.inputs[static_cast<size_t>(i)].dtype == request.outputs[0].dtype)
      pairs.emplace_back(0, i);
  return pairs;
}

template <typename Op>
struct BinaryKernel {
  template <typename T>
  static PreparedKernel Prepare(const KernelRequest& request, const DeviceCaps&) {
    using Result = decltype(Op()(T{}, T{}));
    const Shape shape = request.out(0);
    // In an opaque form, a scalar is the only other shape.
    const bool in_order = !request.outputs[0].layout.is_plain() || (request.in(0) == shape && request.in(1) == shape);
    const int64_t count = ValuesIn(request.outputs[0]), a_step = request.in(0) == shape,
                  b_step = request.in(1) == shape;
    const std::array<Strides, 2> strides{BroadcastStrides(request.in(0), shape),
                                         BroadcastStrides(request.in(1), shape)};
    auto launch = [=](const LaunchArgs& args) {
      const T* a = args.in<T>(0);
      const T* b = args.in<T>(1);
      Result* y = args.out<Result>(0);
      if (in_order) {
        for (int64_t i = 0; i < count; ++i) y[i] = Op()(a[i * a_step], b[i * b_step]);
      } else {
        ForEachPosition(shape, strides, [&](const std::array<int64_t, 2>& at) { *y++ = Op()(a[at[0]], b[at[1]]); });
      }
    };
    return {MakeKernel(launch), 0, InPlace(request)};
  }
};

template <typename Op>
void AddArithmetic(std::vector<KernelRow>& rows, OpKind kind) {
  AddRows<BinaryKernel<Op>, float, double, int32_t, int64_t, uint8_t>(rows, kind);
}

}  // namespace

std::vector<KernelRow> ReferenceBinaryRows() {
  std::vector<KernelRow> rows;
  AddArithmetic<Add>(rows, OpKind::kAdd);
  AddArithmetic<Sub>(rows, OpKind::kSub);
  AddArithmetic<Mul>(rows, OpKind::kMul);
  AddArithmetic<Div>(rows, OpKind::kDiv);
  AddArithmetic<Pow>(rows, OpKind::kPow);
  AddArithmetic<Maximum>(rows, OpKind::kMaximum);
  AddArithmetic<Minimum>(rows, OpKind::kMinimum);
  AddArithmetic<SquaredDifference>(rows, OpKind::kSquaredDifference);
  AddArithmetic<Equal>(rows, OpKind::kEqual);
  AddArithmetic<NotEqual>(rows, OpKind::kNotEqual);
  AddRows<BinaryKernel<Equal>, bool>(rows, OpKind::kEqual);
  AddRows<BinaryKernel<NotEqual>, bool>(rows, OpKind::kNotEqual);
  AddArithmetic<Less>(rows, OpKind::kLess);
  AddArithmetic<LessEqual>(rows, OpKind::kLessEqual);
  AddArithmetic<Greater>(rows, OpKind::kGreater);
  AddArithmetic<GreaterEqual>(rows, OpKind::kGreaterEqual);
  AddRows<BinaryKernel<LogicalAnd>, bool>(rows, OpKind::kLogicalAnd);
  AddRows<BinaryKernel<LogicalOr>, bool>(rows, OpKind::kLogicalOr);
  return rows;
}

}  // namespace muster
