#pragma once

#include <vector>

#include "plan/kernel.h"

namespace muster {

// The rows of each family of operations, in the file of that name.
std::vector<KernelRow> ReferenceStateRows();
std::vector<KernelRow> ReferenceMatMulRows();
std::vector<KernelRow> ReferenceConvRows();
std::vector<KernelRow> ReferenceDepthwiseRows();
std::vector<KernelRow> ReferencePoolRows();
std::vector<KernelRow> ReferenceBatchNormRows();
std::vector<KernelRow> ReferenceLrnRows();
std::vector<KernelRow> ReferenceLossRows();
std::vector<KernelRow> ReferenceApplyRows();

}  // namespace muster
