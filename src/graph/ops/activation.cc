// Activations and the operations that their gradients are made of. Which of input and output a gradient reads follows
// TensorFlow; where the output serves, the input need not be kept.

#include "graph/op_def.h"
#include "graph/ops/gradient_rules.h"
#include "graph/ops/shape_checks.h"
#include "muster/ops/math.h"
#include "muster/ops/nn.h"
#include "muster/ops/state.h"

namespace muster {
namespace {

std::vector<TensorDesc> GradShape(const ShapeContext& c) {
  RequireFloating(c, 0);
  RequireAlike(c);
  return SameAsInput(c);
}

std::vector<Output> ReluGradient(const GradientContext& c) {
  return {c.scope.AddOp(OpKind::kReluGrad, {c.dy[0], c.output(0)})};
}
std::vector<Output> Relu6Gradient(const GradientContext& c) {
  return {c.scope.AddOp(OpKind::kRelu6Grad, {c.dy[0], c.output(0)})};
}
std::vector<Output> SigmoidGradient(const GradientContext& c) {
  return {c.scope.AddOp(OpKind::kSigmoidGrad, {c.output(0), c.dy[0]})};
}
std::vector<Output> TanhGradient(const GradientContext& c) {
  return {c.scope.AddOp(OpKind::kTanhGrad, {c.output(0), c.dy[0]})};
}
std::vector<Output> SoftplusGradient(const GradientContext& c) {
  return {c.scope.AddOp(OpKind::kSoftplusGrad, {c.dy[0], c.input(0)})};
}

// Second derivatives. The step functions' own is zero; they are linear in the first input.
std::vector<Output> ReluGradGradient(const GradientContext& c) {
  return {c.scope.AddOp(OpKind::kReluGrad, {c.dy[0], c.input(1)}), Output{}};
}
std::vector<Output> Relu6GradGradient(const GradientContext& c) {
  return {c.scope.AddOp(OpKind::kRelu6Grad, {c.dy[0], c.input(1)}), Output{}};
}

// y' g = g y (1 - y): d/dy = g (1 - 2y).
std::vector<Output> SigmoidGradGradient(const GradientContext& c) {
  const Scope& s = c.scope;
  const Output y = c.input(0), g = c.input(1);
  const Output slope = ops::Sub(s, ops::ScalarLike(s, 1, s.dtype(y)), Scaled(s, y, 2));
  return {ops::Mul(s, ops::Mul(s, c.dy[0], g), slope), s.AddOp(OpKind::kSigmoidGrad, {y, c.dy[0]})};
}

// g (1 - y^2): d/dy = -2 g y.
std::vector<Output> TanhGradGradient(const GradientContext& c) {
  const Scope& s = c.scope;
  const Output y = c.input(0), g = c.input(1);
  return {ops::Mul(s, ops::Mul(s, Scaled(s, c.dy[0], -2), g), y), s.AddOp(OpKind::kTanhGrad, {y, c.dy[0]})};
}

// g sigmoid(x): d/dx = g sigmoid'(x).
std::vector<Output> SoftplusGradGradient(const GradientContext& c) {
  const Scope& s = c.scope;
  const Output g = c.input(0), x = c.input(1);
  const Output d_x = s.AddOp(OpKind::kSigmoidGrad, {ops::Sigmoid(s, x), ops::Mul(s, c.dy[0], g)});
  return {s.AddOp(OpKind::kSoftplusGrad, {c.dy[0], x}), d_x};
}

constexpr OpDef Unary(OpKind kind, ShapeRule shape_rule, GradientRule gradient) {
  return {.kind = kind, .min_inputs = 1, .max_inputs = 1, .shape_rule = shape_rule, .gradient = gradient};
}
constexpr OpDef Grad(OpKind kind, GradientRule gradient) {
  return {.kind = kind, .min_inputs = 2, .max_inputs = 2, .shape_rule = GradShape, .gradient = gradient};
}

constexpr OpDef kActivationOps[] = {
    Unary(OpKind::kRelu, NumberShape, ReluGradient),
    Unary(OpKind::kRelu6, NumberShape, Relu6Gradient),
    Unary(OpKind::kSigmoid, FloatShape, SigmoidGradient),
    Unary(OpKind::kTanh, FloatShape, TanhGradient),
    Unary(OpKind::kSoftplus, FloatShape, SoftplusGradient),
    Grad(OpKind::kReluGrad, ReluGradGradient),          // (dy, x or y)
    Grad(OpKind::kRelu6Grad, Relu6GradGradient),        // (dy, x or y)
    Grad(OpKind::kSigmoidGrad, SigmoidGradGradient),    // (y, dy)
    Grad(OpKind::kTanhGrad, TanhGradGradient),          // (y, dy)
    Grad(OpKind::kSoftplusGrad, SoftplusGradGradient),  // (dy, x)
};

}  // namespace

std::span<const OpDef> ActivationOps() { return kActivationOps; }

namespace ops {

Output Relu(const Scope& scope, Output x) { return scope.AddOp(OpKind::kRelu, {x}); }
Output Relu6(const Scope& scope, Output x) { return scope.AddOp(OpKind::kRelu6, {x}); }
Output Sigmoid(const Scope& scope, Output x) { return scope.AddOp(OpKind::kSigmoid, {x}); }
Output Tanh(const Scope& scope, Output x) { return scope.AddOp(OpKind::kTanh, {x}); }
Output Softplus(const Scope& scope, Output x) { return scope.AddOp(OpKind::kSoftplus, {x}); }

}  // namespace ops
}  // namespace muster
