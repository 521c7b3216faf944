#pragma once

#include <vector>

#include "graph/op_def.h"

namespace muster {

// What the shape rules of several families share. The Require… functions throw InvalidArgument saying what does not fit and
// what would; Graph::Add puts the operation, its name and its inputs around the message.

// The rule of operations whose output is described as their first input is.
std::vector<TensorDesc> SameAsInput(const ShapeContext& c);

void RequireSameDTypes(const ShapeContext& c);
void RequireSameShapes(const ShapeContext& c);  // and the same dtypes
void RequireFloating(const ShapeContext& c, int input = 0);
void RequireNumbers(const ShapeContext& c, int input = 0);  // anything but bool
void RequireBool(const ShapeContext& c, int input = 0);
void RequireIndices(const ShapeContext& c, int input);  // int32 or int64
void RequireRank(const ShapeContext& c, int input, int rank);
void RequireAxis(int axis, int rank);
// One entry per axis of input 0, as Slice, Pad and Tile need it; "what" names the attribute.
void RequireOnePerAxis(const ShapeContext& c, size_t entries, const char* what);

// An axis as users may give it, -1 being the last, made non-negative. One that is out of range stays as it is, so that the
// shape rule can name it.
int NormalAxis(int axis, int rank);
std::vector<int> NormalAxes(std::vector<int> axes, int rank);  // ascending

}  // namespace muster
