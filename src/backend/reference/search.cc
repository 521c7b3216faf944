// ArgMax, TopK, InTopK.

#include <cmath>

#include "backend/reference/reference_rows.h"
#include "backend/reference/rows.h"

namespace muster {
namespace {

using namespace reference;

struct ArgMax {
  template <typename T>
  static PreparedKernel Prepare(const KernelRequest& request, const DeviceCaps&) {
    const Shape shape = request.in(0);
    const int axis = request.attr<AxisAttrs>().axis;
    int64_t outer = 1, inner = 1;
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
    auto launch = [=, size = shape[axis]](const LaunchArgs& args) {
      const T* x = args.in<T>(0);
      int64_t* y = args.out<int64_t>(0);
      for (int64_t i = 0; i < outer * inner; ++i) {
        const T* line = x + i / inner * size * inner + i % inner;
        int64_t best = 0;
        for (int64_t j = 1; j < size; ++j)
          if (line[j * inner] > line[best * inner]) best = j;
        y[i] = best;
      }
    };
    return {MakeKernel(launch), 0, {}};
  }
};

// Whether element i of a row comes before element j in the order of TopK: larger first, NaN last, then by index.
template <typename T>
bool Before(const T* row, int64_t i, int64_t j) {
  const bool i_is_nan = row[i] != row[i], j_is_nan = row[j] != row[j];
  if (i_is_nan != j_is_nan) return j_is_nan;
  if (!i_is_nan && row[i] != row[j]) return row[i] > row[j];
  return i < j;
}

struct TopK {
  template <typename T>
  static PreparedKernel Prepare(const KernelRequest& request, const DeviceCaps&) {
    const Shape shape = request.in(0);
    const int64_t size = shape[shape.rank() - 1], k = request.attr<TopKAttrs>().k;
    const int64_t rows = size == 0 ? 0 : shape.num_elements() / size;
    auto launch = [=](const LaunchArgs& args) {
      for (int64_t r = 0; r < rows; ++r) {
        const T* row = args.in<T>(0) + r * size;
        int64_t last = -1;
        for (int64_t n = 0; n < k; ++n) {  // the first, in order, of those behind the last one taken
          int64_t best = -1;
          for (int64_t i = 0; i < size; ++i)
            if ((last < 0 || Before(row, last, i)) && (best < 0 || Before(row, i, best))) best = i;
          if (args.outputs[0] != nullptr) args.out<T>(0)[r * k + n] = row[best];
          if (args.outputs[1] != nullptr) args.out<int32_t>(1)[r * k + n] = static_cast<int32_t>(best);
          last = best;
        }
      }
    };
    return {MakeKernel(launch), 0, {}};
  }
};

template <typename T>
bool IsInTopK(const T* row, int64_t classes, int64_t target, int k) {
  if (target < 0 || target >= classes) return false;
  int64_t greater = 0;
  for (int64_t i = 0; i < classes; ++i) {
    if (!std::isfinite(row[i])) return false;
    greater += row[i] > row[target];
  }
  return greater < k;
}

template <typename T, typename Index>
PreparedKernel PrepareInTopK(const KernelRequest& request) {
  const int64_t batch = request.in(0)[0], classes = request.in(0)[1];
  const int k = request.attr<TopKAttrs>().k;
  auto launch = [=](const LaunchArgs& args) {
    for (int64_t i = 0; i < batch; ++i)
      args.out<bool>(0)[i] =
          IsInTopK(args.in<T>(0) + i * classes, classes, static_cast<int64_t>(args.in<Index>(1)[i]), k);
  };
  return {MakeKernel(launch), 0, {}};
}

struct InTopK {
  template <typename T>
  static PreparedKernel Prepare(const KernelRequest& request, const DeviceCaps&) {
    return request.inputs[1].dtype == DType::kInt32 ? PrepareInTopK<T, int32_t>(request)
                                                    : PrepareInTopK<T, int64_t>(request);
  }
};

}  // namespace

std::vector<KernelRow> ReferenceSearchRows() {
  std::vector<KernelRow> rows;
  AddRows<ArgMax, float, double, int32_t, int64_t, uint8_t>(rows, OpKind::kArgMax);
  AddRows<TopK, float, double, int32_t, int64_t>(rows, OpKind::kTopK);
  AddRows<InTopK, float, double>(rows, OpKind::kInTopK);
  return rows;
}

}  // namespace muster
