#pragma once

#include <vector>

#include "plan/kernel.h"

namespace muster {

// The rows of each file of kernels; reference_table.cc puts them together.
std::vector<KernelRow> ReferenceStateRows();
std::vector<KernelRow> ReferenceMatMulRows();
std::vector<KernelRow> ReferenceConvRows();
std::vector<KernelRow> ReferenceDepthwiseRows();
std::vector<KernelRow> ReferencePoolRows();
std::vector<KernelRow> ReferenceBatchNormRows();
std::vector<KernelRow> ReferenceLrnRows();
std::vector<KernelRow> ReferenceLossRows();
std::vector<KernelRow> ReferenceApplyRows();
std::vector<KernelRow> ReferenceBinaryRows();
std::vector<KernelRow> ReferenceUnaryRows();
std::vector<KernelRow> ReferenceSelectRows();
std::vector<KernelRow> ReferenceCastRows();
std::vector<KernelRow> ReferenceActivationRows();
std::vector<KernelRow> ReferenceArrayRows();
std::vector<KernelRow> ReferenceConcatRows();
std::vector<KernelRow> ReferencePadRows();
std::vector<KernelRow> ReferenceReductionRows();
std::vector<KernelRow> ReferenceSearchRows();
std::vector<KernelRow> ReferenceRandomRows();
std::vector<KernelRow> ReferenceBucketRows();

}  // namespace muster
