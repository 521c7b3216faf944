// Builders made of several operations: clipping by value and norm (muster/ops/math.h), dropout (muster/ops/nn.h).

#include <limits>

#include <fmt/format.h>

#include "muster/error.h"
#include "muster/ops/math.h"
#include "muster/ops/nn.h"
#include "muster/ops/random.h"
#include "muster/ops/state.h"

namespace muster::ops {

Output ClipByValue(const Scope& scope, Output x, double low, double high) {
  const DType dtype = scope.dtype(x);
  return Maximum(scope, Minimum(scope, x, ScalarLike(scope, high, dtype)), ScalarLike(scope, low, dtype));
}

// x c / max(|x|, c). The square root's gradient at 0 is infinite, so a zero norm takes a path around it.
Output ClipByNorm(const Scope& scope, Output x, double clip_norm) {
  const DType dtype = scope.dtype(x);
  const Output clip = ScalarLike(scope, clip_norm, dtype);
  const Output squares = Sum(scope, Square(scope, x));
  const Output positive = Greater(scope, squares, ScalarLike(scope, 0, dtype));
  const Output safe = Select(scope, positive, squares, ScalarLike(scope, 1, dtype));
  const Output norm = Select(scope, positive, Sqrt(scope, safe), squares);
  return Mul(scope, x, Div(scope, clip, Maximum(scope, norm, clip)));
}

Output GlobalNorm(const Scope& scope, const std::vector<Output>& inputs) {
  if (inputs.empty())
    throw InvalidArgument(fmt::format("GlobalNorm {}: needs at least one tensor", scope.name_prefix()));
  std::vector<Output> halves;
  for (const Output& x : inputs) halves.push_back(L2Loss(scope, x));
  const Output sum = halves.size() == 1 ? halves[0] : AddN(scope, halves);
  return Sqrt(scope, Mul(scope, sum, ScalarLike(scope, 2, scope.dtype(sum))));
}

// Every tensor is multiplied by c / max(norm, c); by NaN if the norm is not finite, so that the fault shows.
std::vector<Output> ClipByGlobalNorm(const Scope& scope, const std::vector<Output>& inputs, double clip_norm,
                                     Output* global_norm) {
  const Output norm = GlobalNorm(scope, inputs);
  const DType dtype = scope.dtype(norm);
  const Output clip = ScalarLike(scope, clip_norm, dtype);
  const Output finite_scale = Div(scope, clip, Maximum(scope, norm, clip));
  const Output nan = ScalarLike(scope, std::numeric_limits<double>::quiet_NaN(), dtype);
  const Output scale = Select(scope, IsFinite(scope, norm), finite_scale, nan);
  std::vector<Output> clipped;
  for (const Output& x : inputs) clipped.push_back(Mul(scope, x, scale));
  if (global_norm != nullptr) *global_norm = norm;
  return clipped;
}

Output Dropout(const Scope& scope, Output x, double keep_prob, int64_t seed) {
  const Scope inner = scope.WithName("dropout");
  return DropoutWithUniform(inner, x, RandomUniform(inner, scope.dtype(x), scope.shape(x), seed), keep_prob);
}

// One factor, 0 or 1/keep_prob, serves the forward and the backward pass.
Output DropoutWithUniform(const Scope& scope, Output x, Output uniform, double keep_prob) {
  if (!(keep_prob > 0 && keep_prob <= 1))
    throw InvalidArgument(
        fmt::format("Dropout {}: keep_prob must be in (0, 1], not {}", scope.name_prefix(), keep_prob));
  const DType dtype = scope.dtype(x);
  const Output kept = GreaterEqual(scope, uniform, ScalarLike(scope, 1 - keep_prob, scope.dtype(uniform)));
  const Output factor = Mul(scope, Cast(scope, kept, dtype), ScalarLike(scope, 1 / keep_prob, dtype));
  return Mul(scope, x, factor);
}

}  // namespace muster::ops
