#include "backend/reference/reference_table.h"

#include "backend/reference/reference_rows.h"

namespace muster {

const KernelTable& ReferenceTable() {
  static const KernelTable table({
      ReferenceBinaryRows(),
      ReferenceUnaryRows(),
      ReferenceSelectRows(),
      ReferenceCastRows(),
      ReferenceActivationRows(),
      ReferenceArrayRows(),
      ReferenceConcatRows(),
      ReferencePadRows(),
      ReferenceReductionRows(),
      ReferenceSearchRows(),
      ReferenceRandomRows(),
      ReferenceStateRows(),
      ReferenceMatMulRows(),
      ReferenceConvRows(),
      ReferenceDepthwiseRows(),
      ReferencePoolRows(),
      ReferenceBatchNormRows(),
      ReferenceLrnRows(),
      ReferenceLossRows(),
      ReferenceApplyRows(),
  });
  return table;
}

}  // namespace muster
