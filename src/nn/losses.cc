#include "muster/losses.h"

#include "muster/ops/array.h"
#include "muster/ops/math.h"
#include "muster/ops/nn.h"

namespace muster {
namespace {

// Half-precision weights are squared and summed in float32.
Output Widened(const Scope& scope, Output x) {
  const DType dtype = scope.dtype(x);
  return IsHalf(dtype) ? ops::Cast(scope, x, DType::kFloat32) : x;
}

// Sum of w^2/2, a scalar; invalid if there is nothing to sum.
Output L2LossOf(const Scope& scope, std::vector<Output> parts, bool single_op) {
  if (parts.empty()) return {};
  for (Output& part : parts) part = Widened(scope, part);
  if (single_op) {
    for (Output& part : parts) part = ops::Reshape(scope, part, {-1});
    return ops::L2Loss(scope, ops::Concat(scope, parts, 0));
  }
  for (Output& part : parts) part = ops::L2Loss(scope, part);
  return ops::AddN(scope, parts);
}

std::vector<Output> DecayedVariables(const Scope& scope, const std::vector<Variable>& variables,
                                     const WeightDecay& decay) {
  std::vector<Output> decayed;
  for (const Variable& variable : variables) {
    if (!HasWeightDecay(VariableName(*scope.graph(), variable))) continue;
    if (decay.defer) decay.defer(variable);
    decayed.push_back(decay.defer ? ops::StopGradient(scope, variable) : variable.ref);
  }
  return decayed;
}

}  // namespace

Output SoftmaxCrossEntropyMean(const Scope& outer, Output logits, Output labels, double label_smoothing) {
  const Scope scope = outer.WithName("xentropy");
  if (label_smoothing == 0)
    return ops::Mean(scope.Named("xentropy_mean"), ops::SparseSoftmaxCrossEntropyWithLogits(scope, logits, labels));
  const int64_t classes = scope.shape(logits)[1];
  const double off = label_smoothing / static_cast<double>(classes);
  Output targets = ops::OneHot(scope, labels, classes, 1 - label_smoothing + off, off, scope.dtype(logits));
  return ops::Mean(scope.Named("xentropy_mean"), ops::SoftmaxCrossEntropyWithLogits(scope, logits, targets));
}

bool HasWeightDecay(std::string_view variable_name) {
  return variable_name.find("batchnorm") == std::string_view::npos;
}

Output L2LossOfVariables(const Scope& outer, const std::vector<Variable>& variables, bool single_op) {
  const Scope scope = outer.WithName("l2_loss");
  return L2LossOf(scope, DecayedVariables(scope, variables, {}), single_op);
}

Output AddWeightDecay(const Scope& scope, Output base_loss, const std::vector<Variable>& variables,
                      const WeightDecay& decay) {
  if (decay.rate == 0) return base_loss;
  const Scope inner = scope.WithName("l2_loss");
  const Output l2 = L2LossOf(inner, DecayedVariables(inner, variables, decay), decay.single_op);
  if (!l2.is_valid()) return base_loss;
  const DType dtype = scope.dtype(l2);
  const Output scaled =
      ops::Mul(scope, l2, ops::ScalarLike(scope.Named("weight_decay"), decay.num_towers * decay.rate, dtype));
  return ops::Add(scope.Named("total_loss"), base_loss, scaled);
}

Output TopKCorrect(const Scope& outer, Output logits, Output labels, int k) {
  const Scope scope = outer.WithName(k == 1 ? "top_1" : "top_k");
  const Output predictions =
      scope.dtype(logits) == DType::kFloat32 ? logits : ops::Cast(scope, logits, DType::kFloat32);
  return ops::Sum(scope, ops::Cast(scope, ops::InTopK(scope, predictions, labels, k), DType::kFloat32));
}

}  // namespace muster
