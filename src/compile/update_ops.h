#pragma once

#include "muster/op_kind.h"

namespace muster {

// The Apply* operations read variables (their first inputs), one gradient, and scalars. Which input the gradient is; -1
// for every other kind of operation.
constexpr int GradientInputOf(OpKind kind) {
  switch (kind) {
    case OpKind::kApplyGradientDescent: return 2;
    case OpKind::kApplyMomentum:
    case OpKind::kApplyAdagrad:
    case OpKind::kApplyFtrl: return 3;
    case OpKind::kApplyProximalGradientDescent: return 4;
    case OpKind::kApplyAdadelta: return 6;
    case OpKind::kApplyRMSProp: return 7;
    case OpKind::kApplyCenteredRMSProp:
    case OpKind::kApplyAdaMax: return 8;
    case OpKind::kApplyAdam: return 9;
    default: return -1;
  }
}

}  // namespace muster
