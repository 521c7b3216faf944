// Pad and MirrorPadGrad. Along each axis, position p of the padded tensor mirrors position Source(p) of the other, or
// is outside.

#include <algorithm>

#include "backend/reference/reference_rows.h"
#include "backend/reference/rows.h"
#include "backend/reference/strided.h"
#include "core/convert.h"

namespace muster {
namespace {

using namespace reference;

constexpr int64_t kOutside = -1;

// Reflecting leaves the edge element out (2 1 | 0 1 2 | 1 0), symmetric repeats it (1 0 | 0 1 2 | 2 1).
int64_t Source(int64_t position, int64_t before, int64_t size, PadMode mode) {
  const int64_t p = position - before;
  const int64_t skip = mode == PadMode::kReflect ? 1 : 0;
  if (p >= 0 && p < size) return p;
  if (mode == PadMode::kConstant) return kOutside;
  return p < 0 ? -p - 1 + skip : 2 * size - 1 - p - skip;
}

// Where element i of the padded tensor comes from, or kOutside.
int64_t SourceOffset(int64_t i, const Shape& padded, const Strides& padded_strides, const Shape& inner,
                     const Strides& inner_strides, const PadAttrs& attrs) {
  int64_t offset = 0;
  for (int axis = 0; axis < padded.rank(); ++axis) {
    const size_t a = static_cast<size_t>(axis);
    const int64_t source =
        Source(i / padded_strides[a] % padded[axis], attrs.paddings[a].first, inner[axis], attrs.mode);
    if (source == kOutside) return kOutside;
    offset += source * inner_strides[a];
  }
  return offset;
}

PreparedKernel PreparePad(const KernelRequest& request, const DeviceCaps&) {
  return BySize(request.outputs[0].dtype, [&](auto word) {
    using Word = decltype(word);
    const PadAttrs attrs = request.attr<PadAttrs>();
    const Word constant = ElementBits<Word>(request.outputs[0].dtype, attrs.constant);
    const Shape inner = request.in(0), padded = request.out(0);
    const Strides inner_strides = RowMajorStrides(inner), padded_strides = RowMajorStrides(padded);
    auto launch = [=](const LaunchArgs& args) {
      const Word* x = args.in<Word>(0);
      Word* y = args.out<Word>(0);
      for (int64_t i = 0, count = padded.num_elements(); i < count; ++i) {
        const int64_t source = SourceOffset(i, padded, padded_strides, inner, inner_strides, attrs);
        y[i] = source == kOutside ? constant : x[source];
      }
    };
    return PreparedKernel{MakeKernel(launch), 0, {}};
  });
}

struct MirrorPadGrad {
  template <typename T>
  static PreparedKernel Prepare(const KernelRequest& request, const DeviceCaps&) {
    const PadAttrs attrs = request.attr<PadAttrs>();
    const Shape padded = request.in(0), inner = request.out(0);
    const Strides inner_strides = RowMajorStrides(inner), padded_strides = RowMajorStrides(padded);
    auto launch = [=](const LaunchArgs& args) {
      const T* dy = args.in<T>(0);
      T* dx = args.out<T>(0);
      std::fill_n(dx, inner.num_elements(), T{0});
      for (int64_t i = 0, count = padded.num_elements(); i < count; ++i)
        dx[SourceOffset(i, padded, padded_strides, inner, inner_strides, attrs)] += dy[i];
    };
    return {MakeKernel(launch), 0, {}};
  }
};

}  // namespace

std::vector<KernelRow> ReferencePadRows() {
  std::vector<KernelRow> rows;
  AddAllRows(rows, OpKind::kPad, PreparePad);
  AddRows<MirrorPadGrad, float, double>(rows, OpKind::kMirrorPadGrad);
  return rows;
}

}  // namespace muster
