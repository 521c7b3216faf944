// Operations that move elements by strides: each output element is copied from one input element. All types of one size
// share a kernel.

#include <cstring>

#include "backend/reference/reference_rows.h"
#include "backend/reference/rows.h"
#include "backend/reference/strided.h"
#include "core/convert.h"

namespace muster {
namespace {

using namespace reference;

// Reshape, ExpandDims, Squeeze: the same bytes. The planner makes the output the input's memory where it can.
PreparedKernel PrepareCopy(const KernelRequest& request, const DeviceCaps&) {
  const size_t bytes = static_cast<size_t>(request.outputs[0].byte_size());
  auto launch = [=](const LaunchArgs& args) { std::memmove(args.outputs[0], args.inputs[0], bytes); };
  return {MakeKernel(launch), 0, {{0, 0}}};
}

// y, walked row-major over "walk", takes the element of x at "base" plus the strides.
PreparedKernel Gather(DType dtype, const Shape& walk, const Strides& strides, int64_t base = 0) {
  return BySize(dtype, [&](auto word) {
    using Word = decltype(word);
    auto launch = [=](const LaunchArgs& args) {
      const Word* x = args.in<Word>(0) + base;
      Word* y = args.out<Word>(0);
      ForEachPosition<1>(walk, {strides}, [&](const std::array<int64_t, 1>& at) { *y++ = x[at[0]]; });
    };
    return PreparedKernel{MakeKernel(launch), 0, {}};
  });
}

PreparedKernel PrepareTranspose(const KernelRequest& request, const DeviceCaps&) {
  const Strides own = RowMajorStrides(request.in(0));
  const std::vector<int>& perm = request.attr<TransposeAttrs>().perm;
  Strides strides{};
  for (size_t i = 0; i < perm.size(); ++i) strides[i] = own[static_cast<size_t>(perm[i])];
  return Gather(request.outputs[0].dtype, request.out(0), strides);
}

PreparedKernel PrepareSlice(const KernelRequest& request, const DeviceCaps&) {
  const Strides strides = RowMajorStrides(request.in(0));
  const std::vector<int64_t>& begin = request.attr<SliceAttrs>().begin;
  int64_t base = 0;
  for (size_t i = 0; i < begin.size(); ++i) base += begin[i] * strides[i];
  return Gather(request.outputs[0].dtype, request.out(0), strides, base);
}

PreparedKernel PrepareBroadcastTo(const KernelRequest& request, const DeviceCaps&) {
  return Gather(request.outputs[0].dtype, request.out(0), BroadcastStrides(request.in(0), request.out(0)));
}

PreparedKernel PrepareTile(const KernelRequest& request, const DeviceCaps&) {
  return BySize(request.outputs[0].dtype, [&](auto word) {
    using Word = decltype(word);
    const Shape from = request.in(0), to = request.out(0);
    const Strides from_strides = RowMajorStrides(from), to_strides = RowMajorStrides(to);
    auto launch = [=](const LaunchArgs& args) {
      const Word* x = args.in<Word>(0);
      Word* y = args.out<Word>(0);
      const int64_t count = to.num_elements();
      for (int64_t i = 0; i < count; ++i) {
        int64_t source = 0;
        for (int axis = 0; axis < to.rank(); ++axis) {
          const size_t a = static_cast<size_t>(axis);
          source += i / to_strides[a] % to[axis] % from[axis] * from_strides[a];
        }
        y[i] = x[source];
      }
    };
    return PreparedKernel{MakeKernel(launch), 0, {}};
  });
}

struct OneHot {
  template <typename Index>
  static PreparedKernel Prepare(const KernelRequest& request, const DeviceCaps&) {
    const auto& a = request.attr<OneHotAttrs>();
    return BySize(a.dtype, [&](auto word) {
      using Word = decltype(word);
      const Word on = ElementBits<Word>(a.dtype, a.on_value), off = ElementBits<Word>(a.dtype, a.off_value);
      const int64_t count = request.in(0).num_elements(), depth = a.depth;
      auto launch = [=](const LaunchArgs& args) {
        const Index* indices = args.in<Index>(0);
        Word* y = args.out<Word>(0);
        for (int64_t i = 0; i < count; ++i)
          for (int64_t j = 0; j < depth; ++j) *y++ = indices[i] == j ? on : off;
      };
      return PreparedKernel{MakeKernel(launch), 0, {}};
    });
  }
};

}  // namespace

std::vector<KernelRow> ReferenceArrayRows() {
  std::vector<KernelRow> rows;
  AddAllRows(rows, OpKind::kReshape, PrepareCopy);
  AddAllRows(rows, OpKind::kExpandDims, PrepareCopy);
  AddAllRows(rows, OpKind::kSqueeze, PrepareCopy);
  AddAllRows(rows, OpKind::kTranspose, PrepareTranspose);
  AddAllRows(rows, OpKind::kSlice, PrepareSlice);
  AddAllRows(rows, OpKind::kBroadcastTo, PrepareBroadcastTo);
  AddAllRows(rows, OpKind::kTile, PrepareTile);
  AddRows<OneHot, int32_t, int64_t>(rows, OpKind::kOneHot);
  return rows;
}

}  // namespace muster
