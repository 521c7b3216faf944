#pragma once

#include <vector>

#include "graph/op_def.h"

namespace muster {

// Gradient rules of the element-wise operations, after TensorFlow's math_grad. Where an input was broadcast, its
// gradient is summed over the broadcast axes.
std::vector<Output> AddGradient(const GradientContext& c);
std::vector<Output> SubGradient(const GradientContext& c);
std::vector<Output> MulGradient(const GradientContext& c);
std::vector<Output> DivGradient(const GradientContext& c);
std::vector<Output> PowGradient(const GradientContext& c);      // towards the exponent only where the base is positive
std::vector<Output> MaximumGradient(const GradientContext& c);  // ties: all of it to the first input
std::vector<Output> MinimumGradient(const GradientContext& c);
std::vector<Output> SquaredDifferenceGradient(const GradientContext& c);
std::vector<Output> NegGradient(const GradientContext& c);
std::vector<Output> SquareGradient(const GradientContext& c);
std::vector<Output> SqrtGradient(const GradientContext& c);
std::vector<Output> RsqrtGradient(const GradientContext& c);
std::vector<Output> ReciprocalGradient(const GradientContext& c);
std::vector<Output> AbsGradient(const GradientContext& c);
std::vector<Output> ExpGradient(const GradientContext& c);
std::vector<Output> LogGradient(const GradientContext& c);
std::vector<Output> CosGradient(const GradientContext& c);
std::vector<Output> SinGradient(const GradientContext& c);
std::vector<Output> CastGradient(const GradientContext& c);  // between floating-point types only
std::vector<Output> SelectGradient(const GradientContext& c);
std::vector<Output> AddNGradient(const GradientContext& c);

}  // namespace muster
