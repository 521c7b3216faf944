// The update operations of optimizers. Their first inputs are variables, updated in place; output 0 is the first of
// them.
#include <fmt/format.h>

#include "graph/op_def.h"
#include "graph/ops/shape_checks.h"
#include "muster/error.h"
#include "muster/ops/training.h"

namespace muster {
namespace {

// The inputs' names, in order. A name in parentheses is a scalar; all others have the shape of var.
constexpr const char* kGradientDescent[] = {"var", "(alpha)", "delta"};
constexpr const char* kMomentum[] = {"var", "accum", "(lr)", "grad", "(momentum)"};
constexpr const char* kRMSProp[] = {"var", "ms", "mom", "(lr)", "(rho)", "(momentum)", "(epsilon)", "grad"};
constexpr const char* kCenteredRMSProp[] = {"var",   "mg",         "ms",        "mom", "(lr)",
                                            "(rho)", "(momentum)", "(epsilon)", "grad"};
constexpr const char* kAdam[] = {"var",  "m",       "v",       "(beta1_power)", "(beta2_power)",
                                 "(lr)", "(beta1)", "(beta2)", "(epsilon)",     "grad"};
constexpr const char* kAdaMax[] = {"var", "m", "v", "(beta1_power)", "(lr)", "(beta1)", "(beta2)", "(epsilon)", "grad"};
constexpr const char* kAdagrad[] = {"var", "accum", "(lr)", "grad"};
constexpr const char* kAdadelta[] = {"var", "accum", "accum_update", "(lr)", "(rho)", "(epsilon)", "grad"};
constexpr const char* kFtrl[] = {"var", "accum", "linear", "grad", "(lr)", "(l1)", "(l2)", "(lr_power)"};
constexpr const char* kProximalGradientDescent[] = {"var", "(alpha)", "(l1)", "(l2)", "delta"};

template <const auto& names>
std::vector<TensorDesc> ApplyShape(const ShapeContext& c) {
  RequireFloating(c, 0);
  RequireSameDType(c);
  const int count = static_cast<int>(std::size(names));
  if (c.num_inputs() != count + c.attr<ApplyAttrs>().has_weight_decay)
    throw InvalidArgument(fmt::format("takes {} inputs, got {}", count, c.num_inputs()));
  for (int i = 1; i < c.num_inputs(); ++i) {
    const std::string_view name = i < count ? names[i] : "(weight_decay)";
    const bool is_scalar = name.front() == '(';
    if (is_scalar && c.shape(i).rank() != 0)
      throw InvalidArgument(
          fmt::format("{} must be a scalar, not shape {}", name.substr(1, name.size() - 2), c.shape(i).ToString()));
    if (!is_scalar && c.shape(i) != c.shape(0))
      throw InvalidArgument(fmt::format("{} is {}, but var is {}", name, c.shape(i).ToString(), c.shape(0).ToString()));
  }
  return {c.inputs[0]};
}

template <const auto& names>
constexpr OpDef Row(OpKind kind, int num_refs) {
  constexpr int count = static_cast<int>(std::size(names));
  return {kind, count, count + 1, ApplyShape<names>, nullptr, num_refs, false, true};
}

constexpr OpDef kRows[] = {
    Row<kGradientDescent>(OpKind::kApplyGradientDescent, 1),
    Row<kMomentum>(OpKind::kApplyMomentum, 2),
    Row<kRMSProp>(OpKind::kApplyRMSProp, 3),
    Row<kCenteredRMSProp>(OpKind::kApplyCenteredRMSProp, 4),
    Row<kAdam>(OpKind::kApplyAdam, 3),
    Row<kAdaMax>(OpKind::kApplyAdaMax, 3),
    Row<kAdagrad>(OpKind::kApplyAdagrad, 2),
    Row<kAdadelta>(OpKind::kApplyAdadelta, 3),
    Row<kFtrl>(OpKind::kApplyFtrl, 3),
    Row<kProximalGradientDescent>(OpKind::kApplyProximalGradientDescent, 1),
};

NodeId Apply(const Scope& scope, OpKind kind, std::vector<Output> inputs, bool use_nesterov = false) {
  return scope.AddNode(kind, std::move(inputs), ApplyAttrs{use_nesterov});
}

}  // namespace

std::span<const OpDef> ApplyOps() { return kRows; }

namespace ops {

NodeId ApplyGradientDescent(const Scope& scope, Output var, Output alpha, Output delta) {
  return Apply(scope, OpKind::kApplyGradientDescent, {var, alpha, delta});
}

NodeId ApplyMomentum(const Scope& scope, Output var, Output accum, Output lr, Output grad, Output momentum,
                     bool use_nesterov) {
  return Apply(scope, OpKind::kApplyMomentum, {var, accum, lr, grad, momentum}, use_nesterov);
}

NodeId ApplyRMSProp(const Scope& scope, Output var, Output ms, Output mom, Output lr, Output rho, Output momentum,
                    Output epsilon, Output grad) {
  return Apply(scope, OpKind::kApplyRMSProp, {var, ms, mom, lr, rho, momentum, epsilon, grad});
}

NodeId ApplyCenteredRMSProp(const Scope& scope, Output var, Output mg, Output ms, Output mom, Output lr, Output rho,
                            Output momentum, Output epsilon, Output grad) {
  return Apply(scope, OpKind::kApplyCenteredRMSProp, {var, mg, ms, mom, lr, rho, momentum, epsilon, grad});
}

NodeId ApplyAdam(const Scope& scope, Output var, Output m, Output v, Output beta1_power, Output beta2_power, Output lr,
                 Output beta1, Output beta2, Output epsilon, Output grad) {
  return Apply(scope, OpKind::kApplyAdam, {var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad});
}

NodeId ApplyAdaMax(const Scope& scope, Output var, Output m, Output v, Output beta1_power, Output lr, Output beta1,
                   Output beta2, Output epsilon, Output grad) {
  return Apply(scope, OpKind::kApplyAdaMax, {var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad});
}

NodeId ApplyAdagrad(const Scope& scope, Output var, Output accum, Output lr, Output grad) {
  return Apply(scope, OpKind::kApplyAdagrad, {var, accum, lr, grad});
}

NodeId ApplyAdadelta(const Scope& scope, Output var, Output accum, Output accum_update, Output lr, Output rho,
                     Output epsilon, Output grad) {
  return Apply(scope, OpKind::kApplyAdadelta, {var, accum, accum_update, lr, rho, epsilon, grad});
}

NodeId ApplyFtrl(const Scope& scope, Output var, Output accum, Output linear, Output grad, Output lr, Output l1,
                 Output l2, Output lr_power) {
  return Apply(scope, OpKind::kApplyFtrl, {var, accum, linear, grad, lr, l1, l2, lr_power});
}

NodeId ApplyProximalGradientDescent(const Scope& scope, Output var, Output alpha, Output l1, Output l2, Output delta) {
  return Apply(scope, OpKind::kApplyProximalGradientDescent, {var, alpha, l1, l2, delta});
}

}  // namespace ops
}  // namespace muster
