#pragma once

#include <vector>

#include "muster/scope.h"

namespace muster::ops {

// Element-wise operations of two inputs of one dtype; shapes broadcast as in NumPy.
Output Add(const Scope& scope, Output a, Output b);
Output Sub(const Scope& scope, Output a, Output b);
Output Mul(const Scope& scope, Output a, Output b);
Output Div(const Scope& scope, Output a, Output b);  // floating: a/b; integers: truncating
Output Pow(const Scope& scope, Output a, Output b);
Output Maximum(const Scope& scope, Output a, Output b);
Output Minimum(const Scope& scope, Output a, Output b);
Output SquaredDifference(const Scope& scope, Output a, Output b);

// Comparisons and logic give bool.
Output Equal(const Scope& scope, Output a, Output b);
Output NotEqual(const Scope& scope, Output a, Output b);
Output Less(const Scope& scope, Output a, Output b);
Output LessEqual(const Scope& scope, Output a, Output b);
Output Greater(const Scope& scope, Output a, Output b);
Output GreaterEqual(const Scope& scope, Output a, Output b);
Output LogicalAnd(const Scope& scope, Output a, Output b);
Output LogicalOr(const Scope& scope, Output a, Output b);
Output LogicalNot(const Scope& scope, Output a);

Output Neg(const Scope& scope, Output x);
Output Square(const Scope& scope, Output x);
Output Sqrt(const Scope& scope, Output x);
Output Rsqrt(const Scope& scope, Output x);
Output Reciprocal(const Scope& scope, Output x);
Output Abs(const Scope& scope, Output x);
Output Sign(const Scope& scope, Output x);
Output Exp(const Scope& scope, Output x);
Output Log(const Scope& scope, Output x);
Output Cos(const Scope& scope, Output x);
Output Sin(const Scope& scope, Output x);
Output Floor(const Scope& scope, Output x);
Output Ceil(const Scope& scope, Output x);
Output IsFinite(const Scope& scope, Output x);  // bool
Output Cast(const Scope& scope, Output x, DType to);
// condition ? a : b, element by element; condition (bool) has their shape or is a scalar.
Output Select(const Scope& scope, Output condition, Output a, Output b);
// The sum of one or more tensors of one shape.
Output AddN(const Scope& scope, const std::vector<Output>& inputs);

// Reductions; negative axes count from the end, no axes means all.
Output Sum(const Scope& scope, Output x, std::vector<int> axes = {}, bool keep_dims = false);
Output Mean(const Scope& scope, Output x, std::vector<int> axes = {}, bool keep_dims = false);
Output Max(const Scope& scope, Output x, std::vector<int> axes = {},
           bool keep_dims = false);  // gradient shared among ties
Output Min(const Scope& scope, Output x, std::vector<int> axes = {}, bool keep_dims = false);
// Index (int64) of the first maximum along the axis.
Output ArgMax(const Scope& scope, Output x, int axis);
// The k largest of the last axis: output 0 values, output 1 indices (int32); equal values in order of index.
Output TopK(const Scope& scope, Output x, int k);
// predictions [batch, classes], targets int32 [batch] -> bool [batch]: fewer than k classes are strictly greater than
// the target's; false if the target is out of range or a value in its row is not finite.
Output InTopK(const Scope& scope, Output predictions, Output targets, int k);
// Half the sum of squares, a scalar.
Output L2Loss(const Scope& scope, Output x);

// a [m,k] x b [k,n] -> [m,n]; either may be given transposed.
Output MatMul(const Scope& scope, Output a, Output b, bool transpose_a = false, bool transpose_b = false);

// Clipping (tf.clip_by_*). ClipByGlobalNorm returns the clipped tensors; "global_norm" receives the norm if asked for.
Output ClipByValue(const Scope& scope, Output x, double low, double high);
Output ClipByNorm(const Scope& scope, Output x, double clip_norm);
Output GlobalNorm(const Scope& scope, const std::vector<Output>& inputs);
std::vector<Output> ClipByGlobalNorm(const Scope& scope, const std::vector<Output>& inputs, double clip_norm,
                                     Output* global_norm = nullptr);

}  // namespace muster::ops
