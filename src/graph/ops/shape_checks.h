#pragma once

#include <vector>

#include "graph/op_def.h"

namespace muster {

// What shape rules share. Each Require… throws InvalidArgument with one line; the graph adds the node's name and
// inputs.

// The rule of operations whose output is described as their first input is.
std::vector<TensorDesc> SameAsInput(const ShapeContext& context);

// The same for operations on numbers only, or on floating-point numbers only.
std::vector<TensorDesc> NumberShape(const ShapeContext& context);
std::vector<TensorDesc> FloatShape(const ShapeContext& context);

// A plain description of the dtype of input i.
inline TensorDesc Like(const ShapeContext& context, int i, const Shape& shape) { return {context.dtype(i), shape, {}}; }

// Input i is floating point; a number (not bool); bool; int32 or int64.
void RequireFloating(const ShapeContext& context, int i);
void RequireNumbers(const ShapeContext& context, int i);
void RequireBool(const ShapeContext& context, int i);
void RequireIndices(const ShapeContext& context, int i);
// All inputs from "first" on have the dtype of input 0.
void RequireSameDType(const ShapeContext& context, int first = 1);
// All inputs have the shape and dtype of input 0.
void RequireAlike(const ShapeContext& context);
// Input i, called "what", has this rank.
void RequireRank(const ShapeContext& context, int i, int rank, const char* what);
// Input i, called "what", has exactly this shape; "why" ends the sentence: "must be [4] to match the input's channels".
void RequireShape(const ShapeContext& context, int i, const Shape& shape, const char* what, const char* why);
// 0 <= axis < rank.
void RequireAxis(int axis, int rank);
// The attribute "what" has one entry per axis of input 0.
void RequireOnePerAxis(const ShapeContext& context, size_t entries, const char* what);

// For builders: an axis as users may give it, -1 being the last, made non-negative. One that is out of range stays as
// it is, so that the shape rule can name it.
int NormalAxis(int axis, int rank);
std::vector<int> NormalAxes(std::vector<int> axes, int rank);  // ascending

}  // namespace muster
