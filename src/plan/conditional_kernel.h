#pragma once

#include "plan/kernel.h"

namespace muster {

// Updates of variables that take place in some steps only (graph/conditional.h): their last input is a bool scalar that
// the kernels of a table know nothing of.
bool IsConditional(const KernelRequest& request);

// The kernel of a row for any request; a conditional one looks at its last input first and does nothing if that is
// false.
PreparedKernel PrepareKernel(const KernelRow& row, const KernelRequest& request, const DeviceCaps& caps);

}  // namespace muster
