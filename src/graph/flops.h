#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/graph.h"

namespace muster {

// How much arithmetic a node asks for, from its shapes. Both count what the definition says: output positions times
// kernel size, positions in the padding included; an algorithm may do less. Gradient operations count like what they
// differentiate.

// Multiply-adds of a convolution or matrix product; 0 for anything else.
int64_t MultiplyAdds(const Graph& graph, const Node& node);
// The same for a node that is in no Graph, with the shapes of its inputs.
int64_t MultiplyAdds(const Node& node, const std::vector<Shape>& inputs);

// Floating-point operations as TensorFlow's profiler counts them: two per multiply-add, one per element of bias
// additions and element-wise arithmetic, the window per output of a pool, the input of a sum or mean. Activations,
// batch norm and softmax count nothing, as there.
int64_t FloatOps(const Graph& graph, const Node& node);

// The nodes that these need, directly or not, in order of id; control inputs count.
std::vector<NodeId> Ancestors(const Graph& graph, const std::vector<NodeId>& of);

// One row of a model's table.
struct LayerSummary {
  std::string name;    // scope of the layer: "cg/conv0"
  std::string device;  // requested by its first operation; empty: none
  TensorDesc output;   // of its last operation
  int num_ops = 0;
  int64_t parameters = 0;    // trainable elements
  int64_t other_values = 0;  // elements of other variables
  int64_t multiply_adds = 0;
  int64_t float_ops = 0;
  int64_t activation_bytes = 0;  // of all outputs, but for variables, constants and views
};

// The scope that a node counts to, from its name: a convolution or dense layer with everything inside it ("cg/conv0"
// for "cg/conv0/batchnorm0/beta"), all gradients together, all updates of an optimizer together, otherwise the
// innermost scope.
std::string LayerName(const std::string& node_name);

// Sums up "nodes" per layer, in the order in which layers begin.
std::vector<LayerSummary> SummarizeLayers(const Graph& graph, const std::vector<NodeId>& nodes);

}  // namespace muster
