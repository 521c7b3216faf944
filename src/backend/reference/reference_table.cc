#include "backend/reference/reference_table.h"

#include "backend/reference/reference_rows.h"
#include "plan/half_kernel.h"

namespace muster {
namespace {

std::vector<KernelRow> PlainRows() {
  std::vector<KernelRow> all;
  for (const std::vector<KernelRow>& rows :
       {ReferenceBinaryRows(),     ReferenceUnaryRows(),  ReferenceSelectRows(),    ReferenceCastRows(),
        ReferenceActivationRows(), ReferenceArrayRows(),  ReferenceConcatRows(),    ReferencePadRows(),
        ReferenceReductionRows(),  ReferenceSearchRows(), ReferenceRandomRows(),    ReferenceStateRows(),
        ReferenceMatMulRows(),     ReferenceConvRows(),   ReferenceDepthwiseRows(), ReferencePoolRows(),
        ReferenceBatchNormRows(),  ReferenceLrnRows(),    ReferenceLossRows(),      ReferenceApplyRows(),
        ReferenceBucketRows()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

const KernelTable& SingleTable() {
  static const KernelTable table({PlainRows()});
  return table;
}

void Widen(DType from, const void* half, float* single, int64_t n, int) {
  const uint16_t* bits = static_cast<const uint16_t*>(half);
  for (int64_t i = 0; i < n; ++i)
    single[i] = from == DType::kFloat16 ? ToFloat(Float16{bits[i]}) : ToFloat(BFloat16{bits[i]});
}

void Narrow(DType to, const float* single, void* half, int64_t n, int) {
  uint16_t* bits = static_cast<uint16_t*>(half);
  for (int64_t i = 0; i < n; ++i)
    bits[i] = to == DType::kFloat16 ? ToFloat16(single[i]).bits : ToBFloat16(single[i]).bits;
}

PreparedKernel PrepareHalf(const KernelRequest& request, const DeviceCaps& caps) {
  return PrepareInFloat32(request, caps, SingleTable(), {Widen, Narrow});
}

}  // namespace

// Half precision computes in float32, but where a kernel of its own only moves elements.
std::vector<KernelRow> ReferenceRows() {
  std::vector<KernelRow> all = PlainRows();
  for (const KernelRow& row : HalfRowsFor(PlainRows(), PrepareHalf)) all.push_back(row);
  return all;
}

const KernelTable& ReferenceTable() {
  static const KernelTable table({ReferenceRows()});
  return table;
}

}  // namespace muster
