#include "backend/reference/reference_table.h"

#include "backend/reference/reference_rows.h"

namespace muster {

std::vector<KernelRow> ReferenceRows() {
  std::vector<KernelRow> all;
  for (const std::vector<KernelRow>& rows :
       {ReferenceBinaryRows(), ReferenceUnaryRows(), ReferenceSelectRows(), ReferenceCastRows(), ReferenceActivationRows(),
        ReferenceArrayRows(), ReferenceConcatRows(), ReferencePadRows(), ReferenceReductionRows(), ReferenceSearchRows(),
        ReferenceRandomRows(), ReferenceStateRows(), ReferenceMatMulRows(), ReferenceConvRows(), ReferenceDepthwiseRows(),
        ReferencePoolRows(), ReferenceBatchNormRows(), ReferenceLrnRows(), ReferenceLossRows(), ReferenceApplyRows(), ReferenceBucketRows()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

const KernelTable& ReferenceTable() {
  static const KernelTable table({ReferenceRows()});
  return table;
}

}  // namespace muster
