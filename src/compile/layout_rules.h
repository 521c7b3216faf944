#pragma once

#include "compile/pipeline.h"
#include "plan/bucket_format.h"

namespace muster {

// Operations that treat bytes element by element and so accept any one form; padding stays zero under them.
inline bool IsAgnostic(OpKind kind) {
  switch (kind) {
    // clang-format off
    case OpKind::kAssign: case OpKind::kAssignAdd: case OpKind::kAssignSub: case OpKind::kL2Loss: case OpKind::kMul:
    case OpKind::kAdd: case OpKind::kSub: case OpKind::kAddN: case OpKind::kSquare: case OpKind::k_Snapshot:
    case OpKind::kApplyGradientDescent: case OpKind::kApplyMomentum: case OpKind::kApplyRMSProp:
    case OpKind::kApplyAdam: case OpKind::kApplyAdagrad: case OpKind::kApplyAdadelta: case OpKind::kApplyFtrl:
    case OpKind::kApplyCenteredRMSProp: case OpKind::kApplyAdaMax: case OpKind::kApplyProximalGradientDescent:
      // clang-format on
      return true;
    default: return false;
  }
}

// Whether two devices understand each other's forms: they have the same kernels.
inline bool HaveSameForms(const CompileRequest& request, int a, int b) {
  return request.devices[static_cast<size_t>(a)].kernels == request.devices[static_cast<size_t>(b)].kernels;
}

// Whether a value of this form may go from one device to the other as it is. A bucket of plain tensors is understood
// everywhere.
inline bool KeepsForms(const CompileRequest& request, int from, int to, const Layout& layout) {
  if (HaveSameForms(request, from, to)) return true;
  const BucketFormat* bucket = BucketFormatOf(layout);
  if (bucket == nullptr) return layout.is_plain();
  for (const TensorDesc& part : bucket->parts())
    if (!part.layout.is_plain()) return false;
  return true;
}

}  // namespace muster
