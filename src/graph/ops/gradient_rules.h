#pragma once

#include <vector>

#include "graph/op_def.h"

namespace muster {

// What the gradient rules of several families share. None adds a node where the value is already what is wanted.

// The rule of operations through which no gradient flows (TensorFlow's NotDifferentiable and zero gradients).
std::vector<Output> NoGradient(const GradientContext& c);

// x under another shape of as many elements.
Output ReshapeTo(const Scope& scope, Output x, const Shape& shape);

// The gradient of broadcasting from "shape": dy summed over the axes that were added or stretched.
Output SumTo(const Scope& scope, Output dy, const Shape& shape);

// dy, whose shape is "kept" with some axes of size 1 possibly missing, repeated to fill "shape": the gradient of a sum.
Output SpreadTo(const Scope& scope, Output dy, const Shape& kept, const Shape& shape);

// The shape of a reduction over "axes" that keeps its rank.
Shape KeptShape(const Shape& shape, const std::vector<int>& axes);

// Zeros described as "like".
Output ZerosLike(const Scope& scope, Output like);

// dy * factor for a constant.
Output Scaled(const Scope& scope, Output dy, double factor);

}  // namespace muster
