#pragma once

#include <vector>

#include "graph/op_def.h"

namespace muster {

// Gradient rules of the operations that move elements: each moves dy back, adding up where an element went to several
// places.
std::vector<Output> ReshapeGradient(const GradientContext& c);  // also ExpandDims, Squeeze
std::vector<Output> TransposeGradient(const GradientContext& c);
std::vector<Output> ConcatGradient(const GradientContext& c);
std::vector<Output> SplitGradient(const GradientContext& c);
std::vector<Output> SliceGradient(const GradientContext& c);
std::vector<Output> PadGradient(const GradientContext& c);
std::vector<Output> MirrorPadGradGradient(const GradientContext& c);
std::vector<Output> TileGradient(const GradientContext& c);
std::vector<Output> PackGradient(const GradientContext& c);
std::vector<Output> BroadcastToGradient(const GradientContext& c);

}  // namespace muster
