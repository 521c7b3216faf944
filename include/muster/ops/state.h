#pragma once

#include <string>
#include <string_view>

#include "muster/scope.h"

namespace muster {

// A value that lives across steps: its node, the initial value and how to assign it. A small value; copy freely.
struct Variable {
  Output ref;                              // reading: use it as any other input
  NodeId initializer = kNoNode;            // the Assign of the initial value; Session::Initialize runs it
  operator Output() const { return ref; }  // NOLINT: a variable reads like its value, as in TensorFlow
};

namespace ops {

// A value fed at run time. Its shape is fixed when the graph is built.
Output Placeholder(const Scope& scope, DType dtype, const Shape& shape);

// A constant. The tensor must be row-major on the host and must not be written afterwards.
Output Const(const Scope& scope, Tensor value);
template <typename T>
Output Scalar(const Scope& scope, T value) {
  return Const(scope, Tensor::Scalar<T>(value));
}
// A scalar constant of the given dtype (float32, float64, int32, int64): what op builders use beside "like".
Output ScalarLike(const Scope& scope, double value, DType dtype);
// A tensor of one repeated value.
Output Fill(const Scope& scope, DType dtype, const Shape& shape, double value);

// A variable named by the variable scopes, initialised with "initial" (same shape and dtype). Reads in a step see the
// value before that step's updates, unless a control dependency puts the read behind the update. Identity and Reshape
// of a variable are the variable itself: it is read when their reader runs.
Variable MakeVariable(const Scope& scope, std::string_view name, Output initial, bool trainable = true);

// var := value, var += value, var -= value; the output is the new value. "ref" must be a variable's output.
Output Assign(const Scope& scope, Output ref, Output value);
Output AssignAdd(const Scope& scope, Output ref, Output value);
Output AssignSub(const Scope& scope, Output ref, Output value);

Output Identity(const Scope& scope, Output x);
// Identity whose gradient is zero.
Output StopGradient(const Scope& scope, Output x);
// The sum of x over the "size" nodes of this instance, times "scale": every one of them gives the same value. Terms are
// added by rank. The nodes may be built one after the other (towers are), but when one of them runs all must be in the
// graph, and of one shape. Differentiable: the gradient is of the sum of all losses, if each tower's is computed alike.
Output CollectiveReduce(const Scope& scope, Output x, std::string instance, int size, int rank, double scale = 1);
NodeId NoOp(const Scope& scope);
// A node that is done when all of "nodes" are (tf.group).
NodeId Group(const Scope& scope, const std::vector<NodeId>& nodes);

}  // namespace ops
}  // namespace muster
