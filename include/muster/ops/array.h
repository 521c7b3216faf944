#pragma once

#include <vector>

#include "muster/scope.h"

namespace muster::ops {

// One dimension of "shape" may be -1: it is computed from the rest.
Output Reshape(const Scope& scope, Output x, const std::vector<int64_t>& shape);
Output Transpose(const Scope& scope, Output x, std::vector<int> perm);
Output ExpandDims(const Scope& scope, Output x, int axis);
// Removes the given axes, which must have size 1; none given: all of size 1.
Output Squeeze(const Scope& scope, Output x, std::vector<int> axes = {});
Output Concat(const Scope& scope, const std::vector<Output>& inputs, int axis);
// "num" equal pieces.
std::vector<Output> Split(const Scope& scope, Output x, int axis, int num);
std::vector<Output> SplitV(const Scope& scope, Output x, int axis, std::vector<int64_t> sizes);
// Tensors of one dtype as one vector, their elements one after the other, so that they travel together; and the
// reverse, for tensors of these shapes. Where only element-wise operations and transfers lie between the two, the
// tensors keep the memory forms that their readers wish, and neither copies: the tensors are made in the bucket's
// memory and read there. Have no gradient.
Output Bucket(const Scope& scope, const std::vector<Output>& tensors);
std::vector<Output> Unbucket(const Scope& scope, Output bucket, std::vector<Shape> shapes);
// size -1 means to the end of that axis.
Output Slice(const Scope& scope, Output x, std::vector<int64_t> begin, std::vector<int64_t> size);
Output Pad(const Scope& scope, Output x, std::vector<std::pair<int64_t, int64_t>> paddings,
           PadMode mode = PadMode::kConstant, double constant = 0);
Output Tile(const Scope& scope, Output x, std::vector<int64_t> multiples);
// Stacks tensors of one shape along a new axis.
Output Pack(const Scope& scope, const std::vector<Output>& inputs, int axis = 0);
Output BroadcastTo(const Scope& scope, Output x, const Shape& shape);
// indices (int32/int64) of any shape -> shape + [depth]; indices out of range give a row of off values.
Output OneHot(const Scope& scope, Output indices, int64_t depth, double on_value = 1, double off_value = 0,
              DType dtype = DType::kFloat32);

}  // namespace muster::ops
