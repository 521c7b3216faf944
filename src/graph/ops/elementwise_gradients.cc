#include "graph/ops/elementwise_gradients.h"

#include "graph/ops/gradient_rules.h"
#include "muster/ops/math.h"
#include "muster/ops/state.h"

namespace muster {
namespace {

// The gradient for input i, from one that has the output's shape.
Output To(const GradientContext& c, int i, Output dy) { return SumTo(c.scope, dy, c.shape(c.input(i))); }

// dy for the input that was chosen, zero for the other.
std::vector<Output> Choose(const GradientContext& c, Output first_chosen) {
  const Output zeros = ZerosLike(c.scope, c.dy[0]);
  return {To(c, 0, ops::Select(c.scope, first_chosen, c.dy[0], zeros)),
          To(c, 1, ops::Select(c.scope, first_chosen, zeros, c.dy[0]))};
}

}  // namespace

std::vector<Output> AddGradient(const GradientContext& c) { return {To(c, 0, c.dy[0]), To(c, 1, c.dy[0])}; }

// Negated after the sum, where there is less to negate.
std::vector<Output> SubGradient(const GradientContext& c) {
  return {To(c, 0, c.dy[0]), ops::Neg(c.scope, To(c, 1, c.dy[0]))};
}

std::vector<Output> MulGradient(const GradientContext& c) {
  return {To(c, 0, ops::Mul(c.scope, c.dy[0], c.input(1))), To(c, 1, ops::Mul(c.scope, c.dy[0], c.input(0)))};
}

// y = a/b: da = dy/b, db = -(dy/b) y.
std::vector<Output> DivGradient(const GradientContext& c) {
  const Output quotient = ops::Div(c.scope, c.dy[0], c.input(1));
  const Output db = To(c, 1, ops::Mul(c.scope, quotient, c.output(0)));
  return {To(c, 0, quotient), ops::Neg(c.scope, db)};
}

// y = a^b: da = dy b a^(b-1), db = dy y ln(a), the latter 0 where a <= 0.
std::vector<Output> PowGradient(const GradientContext& c) {
  const Scope& s = c.scope;
  const Output a = c.input(0), b = c.input(1);
  const DType dtype = s.dtype(a);
  const Output power = ops::Pow(s, a, ops::Sub(s, b, ops::ScalarLike(s, 1, dtype)));
  const Output da = ops::Mul(s, c.dy[0], ops::Mul(s, b, power));
  const Output positive = ops::Greater(s, a, ops::ScalarLike(s, 0, dtype));
  const Output zeros = ZerosLike(s, a);
  const Output log = ops::Select(s, positive, ops::Log(s, a), zeros);
  const Output db = ops::Mul(s, c.dy[0], ops::Mul(s, c.output(0), log));
  return {To(c, 0, da), To(c, 1, db)};
}

std::vector<Output> MaximumGradient(const GradientContext& c) {
  return Choose(c, ops::GreaterEqual(c.scope, c.input(0), c.input(1)));
}

std::vector<Output> MinimumGradient(const GradientContext& c) {
  return Choose(c, ops::LessEqual(c.scope, c.input(0), c.input(1)));
}

std::vector<Output> SquaredDifferenceGradient(const GradientContext& c) {
  const Output difference = ops::Sub(c.scope, c.input(0), c.input(1));
  const Output d = ops::Mul(c.scope, Scaled(c.scope, c.dy[0], 2), difference);
  return {To(c, 0, d), ops::Neg(c.scope, To(c, 1, d))};
}

std::vector<Output> NegGradient(const GradientContext& c) { return {ops::Neg(c.scope, c.dy[0])}; }

std::vector<Output> SquareGradient(const GradientContext& c) {
  return {ops::Mul(c.scope, Scaled(c.scope, c.dy[0], 2), c.input(0))};
}

std::vector<Output> SqrtGradient(const GradientContext& c) {
  return {ops::Div(c.scope, Scaled(c.scope, c.dy[0], 0.5), c.output(0))};
}

// y = x^(-1/2): dx = -dy y^3 / 2.
std::vector<Output> RsqrtGradient(const GradientContext& c) {
  const Output cube = ops::Mul(c.scope, ops::Square(c.scope, c.output(0)), c.output(0));
  return {ops::Mul(c.scope, Scaled(c.scope, c.dy[0], -0.5), cube)};
}

std::vector<Output> ReciprocalGradient(const GradientContext& c) {
  return {ops::Neg(c.scope, ops::Mul(c.scope, c.dy[0], ops::Square(c.scope, c.output(0))))};
}

std::vector<Output> AbsGradient(const GradientContext& c) {
  return {ops::Mul(c.scope, c.dy[0], ops::Sign(c.scope, c.input(0)))};
}

std::vector<Output> ExpGradient(const GradientContext& c) { return {ops::Mul(c.scope, c.dy[0], c.output(0))}; }

std::vector<Output> LogGradient(const GradientContext& c) { return {ops::Div(c.scope, c.dy[0], c.input(0))}; }

std::vector<Output> CosGradient(const GradientContext& c) {
  return {ops::Neg(c.scope, ops::Mul(c.scope, c.dy[0], ops::Sin(c.scope, c.input(0))))};
}

std::vector<Output> SinGradient(const GradientContext& c) {
  return {ops::Mul(c.scope, c.dy[0], ops::Cos(c.scope, c.input(0)))};
}

std::vector<Output> CastGradient(const GradientContext& c) {
  const DType from = c.scope.dtype(c.input(0));
  if (!IsFloating(from) || !IsFloating(c.attr<CastAttrs>().to)) return {Output{}};
  return {ops::Cast(c.scope, c.dy[0], from)};
}

std::vector<Output> SelectGradient(const GradientContext& c) {
  const Output zeros = ZerosLike(c.scope, c.dy[0]);
  return {Output{}, ops::Select(c.scope, c.input(0), c.dy[0], zeros), ops::Select(c.scope, c.input(0), zeros, c.dy[0])};
}

std::vector<Output> AddNGradient(const GradientContext& c) {
  return std::vector<Output>(c.node.inputs.size(), c.dy[0]);
}

}  // namespace muster
