#pragma once

#include "graph/op_def.h"

namespace muster {

// Checks that shape rules share. Each throws InvalidArgument with one line; the graph adds the node's name and inputs.

// Input i is floating point.
void RequireFloating(const ShapeContext& context, int i);
// All inputs from "first" on have the dtype of input 0.
void RequireSameDType(const ShapeContext& context, int first = 1);
// Input i, called "what", has this rank.
void RequireRank(const ShapeContext& context, int i, int rank, const char* what);
// Input i, called "what", has exactly this shape; "why" ends the sentence: "must be [4] to match the input's channels".
void RequireShape(const ShapeContext& context, int i, const Shape& shape, const char* what, const char* why);

// A plain description of the dtype of input i.
inline TensorDesc Like(const ShapeContext& context, int i, const Shape& shape) { return {context.dtype(i), shape, {}}; }

}  // namespace muster
