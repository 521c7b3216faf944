#include "train/strategy/parts.h"

#include "muster/ops/array.h"
#include "muster/ops/math.h"
#include "muster/ops/state.h"

namespace muster::train {

Output Scaled(const Scope& scope, Output x, double scale) {
  if (scale == 1) return x;
  return ops::Mul(scope.Named("scaled"), x, ops::ScalarLike(scope.Named("scale"), scale, scope.dtype(x)));
}

Output ScaledSum(const Scope& scope, const Parts& parts, double scale) {
  const bool is_half = scope.dtype(parts[0]) == DType::kFloat16 && (parts.size() > 1 || scale != 1);
  if (is_half) {
    Parts widened;
    for (Output part : parts) widened.push_back(ops::Cast(scope, part, DType::kFloat32));
    return ops::Cast(scope, ScaledSum(scope, widened, scale), DType::kFloat16);
  }
  return Scaled(scope, parts.size() == 1 ? parts[0] : ops::AddN(scope.Named("sum"), parts), scale);
}

Output Flat(const Scope& scope, Output x) {
  return scope.shape(x).rank() == 1 ? x : ops::Reshape(scope.Named("flat"), x, {scope.shape(x).num_elements()});
}

Output Unflat(const Scope& scope, Output x, const Shape& shape) {
  if (scope.shape(x) == shape) return x;
  std::vector<int64_t> dims;
  for (int i = 0; i < shape.rank(); ++i) dims.push_back(shape[i]);
  return ops::Reshape(scope.Named("shaped"), x, dims);
}

std::vector<int64_t> EqualPieces(int64_t total, int64_t num) {
  std::vector<int64_t> sizes(static_cast<size_t>(num), total / num);
  for (int64_t i = 0; i < total % num; ++i) ++sizes[static_cast<size_t>(i)];
  return sizes;
}

std::vector<Output> Cut(const Scope& scope, Output x, const std::vector<int64_t>& sizes) {
  if (sizes.size() == 1) return {x};
  return ops::SplitV(scope.Named("cut"), x, 0, sizes);
}

Output Join(const Scope& scope, const std::vector<Output>& pieces) {
  return pieces.size() == 1 ? pieces[0] : ops::Concat(scope.Named("join"), pieces, 0);
}

}  // namespace muster::train
