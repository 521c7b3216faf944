#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "muster/initializers.h"
#include "muster/ops/state.h"

namespace muster {

// What to do when a variable of the wanted name exists already (the reuse argument of TensorFlow 1's variable scopes).
enum class Reuse : uint8_t {
  kNever,   // throw AlreadyExists
  kAuto,    // share it, or make it if it is new
  kAlways,  // share it; throw NotFound if there is none
};

// A wanted variable. The name is relative to the variable scopes around it.
struct VariableSpec {
  std::string_view name;
  DType dtype = DType::kFloat32;
  Shape shape;
  Initializer initializer;
  bool trainable = true;
};

// tf.get_variable: makes the variable (its first value under "<name>/Initializer"), or returns the one that is there.
// Throws InvalidArgument if an existing variable has another shape or dtype.
Variable GetVariable(const Scope& scope, const VariableSpec& spec, Reuse reuse = Reuse::kNever);

// How layers get their variables: the place where a strategy decides on their device, shares or copies them.
using VariableGetter = std::function<Variable(const Scope& scope, const VariableSpec& spec)>;

// The graph's trainable variables in creation order (tf.trainable_variables).
std::vector<Variable> TrainableVariables(const Graph& graph);

// The name of a variable: "v/cg/conv0/biases".
const std::string& VariableName(const Graph& graph, const Variable& variable);

// The int64 counter of training steps, "global_step", starting at 0; shared if the graph has it already.
Variable GlobalStep(const Scope& scope);

}  // namespace muster
