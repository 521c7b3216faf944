#pragma once

#include <span>
#include <vector>

#include "muster/graph.h"
#include "muster/scope.h"

namespace muster {

// What a shape rule sees: the node being added (kind, name, attributes) and the descriptions of its inputs. It returns
// the descriptions of the outputs, or throws InvalidArgument saying which shapes do not fit; the caller adds the name.
struct ShapeContext {
  const Node& node;
  std::vector<TensorDesc> inputs;

  int num_inputs() const { return static_cast<int>(inputs.size()); }
  const Shape& shape(int i) const { return inputs[static_cast<size_t>(i)].shape; }
  DType dtype(int i) const { return inputs[static_cast<size_t>(i)].dtype; }
  template <typename A>
  const A& attr() const {
    return node.attrs.get<A>();
  }
};
using ShapeRule = std::vector<TensorDesc> (*)(const ShapeContext&);

// What a gradient rule sees: the node, and for each of its outputs the gradient of the loss with respect to it (an
// invalid Output where there is none). It adds the gradient operations to "scope" and returns one gradient per input,
// invalid where none flows.
struct GradientContext {
  const Scope& scope;
  Node node;  // a copy: adding operations may move the graph's own
  std::span<const Output> dy;

  Output input(int i) const { return node.inputs[static_cast<size_t>(i)]; }
  Output output(int i) const { return {node.id, i}; }
  const Shape& shape(Output o) const { return scope.shape(o); }
  template <typename A>
  const A& attr() const {
    return node.attrs.get<A>();
  }
};
using GradientRule = std::vector<Output> (*)(const GradientContext&);

// One row of the operation table.
struct OpDef {
  OpKind kind;
  int min_inputs, max_inputs;  // max_inputs -1: any number
  ShapeRule shape_rule;
  GradientRule gradient = nullptr;  // nullptr: not differentiable; Gradients() says so if a path needs it
  int num_refs = 0;                 // the first inputs that are variables updated in place; output 0 is input 0
  bool is_alias = false;            // output 0 is input 0's bytes under another shape or name
  bool is_stateful = false;         // never folded or shared: state, random numbers, channels
};

// The row of an operation.
const OpDef& GetOpDef(OpKind kind);

// The rows of each family, in graph/ops/<family>.cc.
std::span<const OpDef> StateOps();
std::span<const OpDef> ElementwiseOps();
std::span<const OpDef> ActivationOps();
std::span<const OpDef> ArrayOps();
std::span<const OpDef> ReductionOps();
std::span<const OpDef> MatMulOps();
std::span<const OpDef> ConvOps();
std::span<const OpDef> PoolOps();
std::span<const OpDef> NormOps();
std::span<const OpDef> LossOps();
std::span<const OpDef> RandomOps();
std::span<const OpDef> ApplyOps();
std::span<const OpDef> CompilerOps();

}  // namespace muster
