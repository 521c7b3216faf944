// Sum, Mean, Max, Min over any axes; L2Loss. Sums of floats run in float64.

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "backend/reference/reference_rows.h"
#include "backend/reference/rows.h"
#include "backend/reference/strided.h"

namespace muster {
namespace {

using namespace reference;

// The axes of a reduction in two walks: over what stays, and from each such position over what is folded.
struct Walks {
  Shape kept, folded;
  Strides kept_strides{}, folded_strides{};
};

Walks SplitAxes(const Shape& shape, const std::vector<int>& axes) {
  const Strides own = RowMajorStrides(shape);
  Walks walks;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool folds = std::find(axes.begin(), axes.end(), axis) != axes.end();
    Shape& part = folds ? walks.folded : walks.kept;
    Strides& strides = folds ? walks.folded_strides : walks.kept_strides;
    strides[static_cast<size_t>(part.rank())] = own[static_cast<size_t>(axis)];
    part = part.Inserted(part.rank(), shape[axis]);
  }
  return walks;
}

// What folds many elements into one. Integers wrap around in 64 bits.
template <typename T>
using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

template <typename T>
struct SumFold {
  Accumulator<T> total = 0;
  void operator()(T x) { total += static_cast<Accumulator<T>>(x); }
  T Result(int64_t) const { return static_cast<T>(total); }
};

template <typename T>
struct MeanFold : SumFold<T> {
  T Result(int64_t count) const {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(this->total / static_cast<double>(count));
    else return count == 0 ? T{0} : static_cast<T>(static_cast<int64_t>(this->total) / count);
  }
};

// NaN wins. Nothing folded gives the lowest number.
template <typename T>
struct MaxFold {
  T best = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  void operator()(T x) {
    if (best == best && (x > best || x != x)) best = x;
  }
  T Result(int64_t) const { return best; }
};

template <typename T>
struct MinFold {
  T best = std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  void operator()(T x) {
    if (best == best && (x < best || x != x)) best = x;
  }
  T Result(int64_t) const { return best; }
};

template <template <typename> typename Fold>
struct ReduceKernel {
  template <typename T>
  static PreparedKernel Prepare(const KernelRequest& request, const DeviceCaps&) {
    const Walks walks = SplitAxes(request.in(0), request.attr<ReduceAttrs>().axes);
    auto launch = [=](const LaunchArgs& args) {
      const T* x = args.in<T>(0);
      T* y = args.out<T>(0);
      ForEachPosition<1>(walks.kept, {walks.kept_strides}, [&](const std::array<int64_t, 1>& base) {
        Fold<T> fold;
        ForEachPosition<1>(walks.folded, {walks.folded_strides},
                           [&](const std::array<int64_t, 1>& at) { fold(x[base[0] + at[0]]); });
        *y++ = fold.Result(walks.folded.num_elements());
      });
    };
    return {MakeKernel(launch), 0, {}};
  }
};

struct L2Loss {
  template <typename T>
  static PreparedKernel Prepare(const KernelRequest& request, const DeviceCaps&) {
    const int64_t count = request.in(0).num_elements();
    auto launch = [=](const LaunchArgs& args) {
      const T* x = args.in<T>(0);
      double sum = 0;
      for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      *args.out<T>(0) = static_cast<T>(sum / 2);
    };
    return {MakeKernel(launch), 0, {}};
  }
};

template <template <typename> typename Fold>
void AddReduction(std::vector<KernelRow>& rows, OpKind kind) {
  AddRows<ReduceKernel<Fold>, float, double, int32_t, int64_t, uint8_t>(rows, kind);
}

}  // namespace

std::vector<KernelRow> ReferenceReductionRows() {
  std::vector<KernelRow> rows;
  AddReduction<SumFold>(rows, OpKind::kSum);
  AddReduction<MeanFold>(rows, OpKind::kMean);
  AddReduction<MaxFold>(rows, OpKind::kMax);
  AddReduction<MinFold>(rows, OpKind::kMin);
  AddRows<L2Loss, float, double>(rows, OpKind::kL2Loss);
  return rows;
}

}  // namespace muster
