#pragma once

#include "muster/scope.h"

namespace muster::ops {

// TensorFlow's update operations, inputs in its order. The first inputs are variables, updated in place; scalars are
// rank-0 tensors of the variable's dtype. Formulas: tests/data/golden/optimizers.json.
NodeId ApplyGradientDescent(const Scope& scope, Output var, Output alpha, Output delta);
NodeId ApplyMomentum(const Scope& scope, Output var, Output accum, Output lr, Output grad, Output momentum,
                     bool use_nesterov);
NodeId ApplyRMSProp(const Scope& scope, Output var, Output ms, Output mom, Output lr, Output rho, Output momentum,
                    Output epsilon, Output grad);
NodeId ApplyCenteredRMSProp(const Scope& scope, Output var, Output mg, Output ms, Output mom, Output lr, Output rho,
                            Output momentum, Output epsilon, Output grad);
NodeId ApplyAdam(const Scope& scope, Output var, Output m, Output v, Output beta1_power, Output beta2_power, Output lr,
                 Output beta1, Output beta2, Output epsilon, Output grad);
NodeId ApplyAdaMax(const Scope& scope, Output var, Output m, Output v, Output beta1_power, Output lr, Output beta1,
                   Output beta2, Output epsilon, Output grad);
NodeId ApplyAdagrad(const Scope& scope, Output var, Output accum, Output lr, Output grad);
NodeId ApplyAdadelta(const Scope& scope, Output var, Output accum, Output accum_update, Output lr, Output rho,
                     Output epsilon, Output grad);
NodeId ApplyFtrl(const Scope& scope, Output var, Output accum, Output linear, Output grad, Output lr, Output l1,
                 Output l2, Output lr_power);
NodeId ApplyProximalGradientDescent(const Scope& scope, Output var, Output alpha, Output l1, Output l2, Output delta);

}  // namespace muster::ops
