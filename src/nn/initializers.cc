#include "muster/initializers.h"

#include <algorithm>
#include <cmath>

#include "muster/ops/math.h"
#include "muster/ops/random.h"
#include "muster/ops/state.h"

namespace muster::initializers {
namespace {

// Standard deviation of a standard normal that is cut at two.
constexpr double kTruncatedStddev = 0.87962566103423978;

// Random numbers are drawn in the wide type and then narrowed: half-precision weights are the rounded float32 ones.
DType DrawType(DType dtype) { return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32; }

Output ScaleAndShift(const Scope& scope, Output x, double scale, double shift, DType dtype) {
  Output y = ops::Mul(scope, x, ops::ScalarLike(scope.Named("scale"), scale, scope.dtype(x)));
  if (shift != 0) y = ops::Add(scope, y, ops::ScalarLike(scope.Named("shift"), shift, scope.dtype(x)));
  return dtype == scope.dtype(y) ? y : ops::Cast(scope, y, dtype);
}

double FanFor(FanMode mode, const Fans& fans) {
  switch (mode) {
    case FanMode::kFanIn: return fans.in;
    case FanMode::kFanOut: return fans.out;
    default: return (fans.in + fans.out) / 2;
  }
}

Initializer OfDistribution(FanDistribution distribution, double variance, int64_t seed) {
  switch (distribution) {
    case FanDistribution::kTruncatedNormal: return TruncatedNormal(0, std::sqrt(variance) / kTruncatedStddev, seed);
    case FanDistribution::kUntruncatedNormal: return RandomNormal(0, std::sqrt(variance), seed);
    default: return RandomUniform(-std::sqrt(3 * variance), std::sqrt(3 * variance), seed);
  }
}

}  // namespace

Initializer Constant(double value) {
  return [value](const Scope& scope, DType dtype, const Shape& shape) { return ops::Fill(scope, dtype, shape, value); };
}

Initializer Zeros() { return Constant(0); }
Initializer Ones() { return Constant(1); }

Initializer RandomNormal(double mean, double stddev, int64_t seed) {
  return [=](const Scope& scope, DType dtype, const Shape& shape) {
    return ScaleAndShift(scope, ops::RandomStandardNormal(scope, DrawType(dtype), shape, seed), stddev, mean, dtype);
  };
}

Initializer TruncatedNormal(double mean, double stddev, int64_t seed) {
  return [=](const Scope& scope, DType dtype, const Shape& shape) {
    return ScaleAndShift(scope, ops::TruncatedNormal(scope, DrawType(dtype), shape, seed), stddev, mean, dtype);
  };
}

Initializer RandomUniform(double low, double high, int64_t seed) {
  return [=](const Scope& scope, DType dtype, const Shape& shape) {
    return ScaleAndShift(scope, ops::RandomUniform(scope, DrawType(dtype), shape, seed), high - low, low, dtype);
  };
}

Initializer VarianceScaling(VarianceScalingOptions options) {
  return [options](const Scope& scope, DType dtype, const Shape& shape) {
    const double fan = std::max(1.0, FanFor(options.mode, ComputeFans(shape)));
    return OfDistribution(options.distribution, options.scale / fan, options.seed)(scope, dtype, shape);
  };
}

Initializer GlorotUniform(int64_t seed) {
  return VarianceScaling({1, FanMode::kFanAverage, FanDistribution::kUniform, seed});
}
Initializer GlorotNormal(int64_t seed) {
  return VarianceScaling({1, FanMode::kFanAverage, FanDistribution::kTruncatedNormal, seed});
}
Initializer HeUniform(int64_t seed) { return VarianceScaling({2, FanMode::kFanIn, FanDistribution::kUniform, seed}); }
Initializer HeNormal(int64_t seed) {
  return VarianceScaling({2, FanMode::kFanIn, FanDistribution::kTruncatedNormal, seed});
}
Initializer LecunUniform(int64_t seed) {
  return VarianceScaling({1, FanMode::kFanIn, FanDistribution::kUniform, seed});
}
Initializer LecunNormal(int64_t seed) {
  return VarianceScaling({1, FanMode::kFanIn, FanDistribution::kTruncatedNormal, seed});
}

Fans ComputeFans(const Shape& shape) {
  const int rank = shape.rank();
  if (rank == 0) return {1, 1};
  if (rank == 1) return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
  double receptive_field = 1;
  for (int axis = 0; axis < rank - 2; ++axis) receptive_field *= static_cast<double>(shape[axis]);
  return {receptive_field * static_cast<double>(shape[rank - 2]),
          receptive_field * static_cast<double>(shape[rank - 1])};
}

}  // namespace muster::initializers
