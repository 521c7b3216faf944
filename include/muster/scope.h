#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "muster/graph.h"

namespace muster {

// Chooses the device string of a node that is being added: its kind, name, attributes, inputs and control inputs are
// set, and "device" is what the scopes inside the function's ask for. What it returns takes the place of that device.
using DeviceFunction = std::function<std::string(const Node& node)>;

// Where new operations go: a graph together with the names, device, colocation and control inputs that they get. Cheap
// to copy; every With… returns a changed copy and leaves the original as it was, so scopes nest like C++ blocks:
//
//   Scope root(&graph);
//   Scope tower = root.WithName("tower_0").WithDevice("/gpu:0");
//   Output y = ops::Relu(tower, x);              // "tower_0/Relu" on /gpu:0
class Scope {
 public:
  explicit Scope(Graph* graph) : graph_(graph) {}

  Graph* graph() const { return graph_; }

  // An operation-name scope, made unique ("conv", then "conv_1"). Variable names are not affected.
  Scope WithName(std::string_view name) const;
  // A scope for both operation and variable names. Opening the same one again is allowed; variables must still differ.
  Scope WithVariableScope(std::string_view name) const;
  // Leaves the name and variable scopes around this one; devices and control dependencies stay.
  Scope WithoutName() const;
  // The name that the next single operation gets instead of its kind: ops::Add(scope.Named("sum"), a, b).
  Scope Named(std::string_view op_name) const;
  // Device scopes merge innermost first: parts that "device" leaves unset come from the scopes around it.
  Scope WithDevice(std::string_view device) const;
  // A device scope that is a function (tf.device(function)): it sees what the scopes inside it ask for and may change
  // that; the scopes around it then fill the parts that it leaves unset. An empty function is WithoutDevice.
  Scope WithDeviceFunction(DeviceFunction function) const;
  // Cuts off the device scopes around this one, functions too, as tf.device(None) does.
  Scope WithoutDevice() const;
  // New operations run where the named node runs; beats device scopes.
  Scope ColocatedWith(NodeId node) const;
  // New operations wait for these nodes (added to those of outer scopes).
  Scope WithControlDependencies(const std::vector<NodeId>& nodes) const;
  // Forgets the control dependencies of outer scopes.
  Scope WithoutControlDependencies() const;

  // Adds a node named after its kind (or Named) inside this scope.
  NodeId AddNode(OpKind kind, std::vector<Output> inputs, Attrs attrs = NoAttrs{}) const;
  // The same, returning output 0.
  Output AddOp(OpKind kind, std::vector<Output> inputs, Attrs attrs = NoAttrs{}) const {
    return {AddNode(kind, std::move(inputs), std::move(attrs)), 0};
  }
  // Adds a Variable node named by the variable scopes: "v/cg/conv0/biases". Throws AlreadyExists if the name is taken.
  NodeId AddVariableNode(std::string_view name, DType dtype, const Shape& shape) const;

  const Shape& shape(Output output) const { return graph_->shape(output); }
  DType dtype(Output output) const { return graph_->dtype(output); }
  // What the string scopes ask for, up to the innermost device function.
  const DeviceName& device() const { return device_; }
  const std::string& name_prefix() const { return name_prefix_; }
  const std::string& variable_prefix() const { return variable_prefix_; }

 private:
  // A device function and what is around it.
  struct DeviceLayer {
    DeviceFunction function;
    DeviceName device;
    std::shared_ptr<const DeviceLayer> outer;
  };

  NodeId Finish(Node node) const;

  Graph* graph_;
  std::string name_prefix_;      // "" or "a/b/"
  std::string variable_prefix_;  // "" or "a/b/"
  std::string op_name_;
  DeviceName device_;
  std::shared_ptr<const DeviceLayer> device_functions_;  // innermost first; shared by copies, never changed
  std::vector<std::string> colocate_with_;
  std::vector<NodeId> control_;
};

}  // namespace muster
