#pragma once

#include <functional>

#include "muster/scope.h"

namespace muster {

// Builds the operations that compute a variable's first value, and returns their output: TensorFlow 1's
// tf.*_initializer as a function value. Random ones draw from the stream of their own node, so every variable gets
// its own numbers and the same ones in every run with the same graph seed.
using Initializer = std::function<Output(const Scope& scope, DType dtype, const Shape& shape)>;

namespace initializers {

Initializer Zeros();
Initializer Ones();
Initializer Constant(double value);

// Normal with this mean and standard deviation. The truncated one is cut at two standard deviations of the parameter,
// so that what it draws spreads by 0.8796 stddev.
Initializer RandomNormal(double mean, double stddev, int64_t seed = 0);
Initializer TruncatedNormal(double mean, double stddev, int64_t seed = 0);
// Uniform in [low, high).
Initializer RandomUniform(double low, double high, int64_t seed = 0);

enum class FanMode : uint8_t { kFanIn, kFanOut, kFanAverage };
enum class FanDistribution : uint8_t { kTruncatedNormal, kUntruncatedNormal, kUniform };

// Zero mean and variance scale / fan (tf.variance_scaling_initializer, whose defaults these are). The truncated
// normal's parameter is divided by 0.87962566103423978, so that the variance after cutting is the wanted one.
struct VarianceScalingOptions {
  double scale = 1;
  FanMode mode = FanMode::kFanIn;
  FanDistribution distribution = FanDistribution::kTruncatedNormal;
  int64_t seed = 0;
};
Initializer VarianceScaling(VarianceScalingOptions options = {});

// Glorot and Bengio 2010 (scale 1, average fan; TensorFlow 1's default for variables), He et al. 2015 (scale 2, fan
// in), LeCun et al. 1998 (scale 1, fan in).
Initializer GlorotUniform(int64_t seed = 0);
Initializer GlorotNormal(int64_t seed = 0);
Initializer HeUniform(int64_t seed = 0);
Initializer HeNormal(int64_t seed = 0);
Initializer LecunUniform(int64_t seed = 0);
Initializer LecunNormal(int64_t seed = 0);

// Numbers that flow into and out of one unit of a weight of this shape: dense [in, out], convolution [..., in, out]
// with the product of the leading dimensions as receptive field.
struct Fans {
  double in = 1, out = 1;
};
Fans ComputeFans(const Shape& shape);

}  // namespace initializers
}  // namespace muster
