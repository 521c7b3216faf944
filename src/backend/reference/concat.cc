// Concat, Split and Pack: tensors seen as [outer, along the axis and inside it], joined or cut along the second.

#include <cstring>

#include "backend/reference/reference_rows.h"
#include "backend/reference/rows.h"

namespace muster {
namespace {

using namespace reference;

int64_t Outer(const Shape& shape, int axis) {
  int64_t count = 1;
  for (int i = 0; i < axis; ++i) count *= shape[i];
  return count;
}

// Bytes of each tensor per outer position.
std::vector<size_t> RowBytes(const std::vector<TensorDesc>& pieces, int64_t outer) {
  std::vector<size_t> bytes;
  for (const TensorDesc& piece : pieces)
    bytes.push_back(outer == 0 ? 0 : static_cast<size_t>(piece.byte_size() / outer));
  return bytes;
}

// Concat, and Pack: the same bytes as if the new axis were already there with size 1.
PreparedKernel PrepareJoin(const KernelRequest& request, const DeviceCaps&) {
  const int64_t outer = Outer(request.in(0), request.attr<AxisAttrs>().axis);
  const std::vector<size_t> bytes = RowBytes(request.inputs, outer);
  auto launch = [=](const LaunchArgs& args) {
    char* y = args.out<char>(0);
    for (int64_t row = 0; row < outer; ++row)
      for (size_t i = 0; i < bytes.size(); ++i) {
        std::memcpy(y, args.in<char>(static_cast<int>(i)) + static_cast<size_t>(row) * bytes[i], bytes[i]);
        y += bytes[i];
      }
  };
  return {MakeKernel(launch), 0, {}};
}

PreparedKernel PrepareSplit(const KernelRequest& request, const DeviceCaps&) {
  const int64_t outer = Outer(request.in(0), request.attr<SplitAttrs>().axis);
  const std::vector<size_t> bytes = RowBytes(request.outputs, outer);
  auto launch = [=](const LaunchArgs& args) {
    const char* x = args.in<char>(0);
    for (int64_t row = 0; row < outer; ++row)
      for (size_t i = 0; i < bytes.size(); ++i) {
        char* piece = args.out<char>(static_cast<int>(i));
        if (piece != nullptr) std::memcpy(piece + static_cast<size_t>(row) * bytes[i], x, bytes[i]);
        x += bytes[i];
      }
  };
  return {MakeKernel(launch), 0, {}};
}

}  // namespace

std::vector<KernelRow> ReferenceConcatRows() {
  std::vector<KernelRow> rows;
  AddAllRows(rows, OpKind::kConcat, PrepareJoin);
  AddAllRows(rows, OpKind::kPack, PrepareJoin);
  AddAllRows(rows, OpKind::kSplit, PrepareSplit);
  return rows;
}

}  // namespace muster
