#include "muster/scope.h"

#include <algorithm>

#include <fmt/format.h>

#include "muster/error.h"

namespace muster {

Scope Scope::WithName(std::string_view name) const {
  Scope inner = *this;
  inner.op_name_.clear();
  inner.name_prefix_ = graph_->UniqueName(name_prefix_ + std::string(name)) + "/";
  return inner;
}

Scope Scope::WithVariableScope(std::string_view name) const {
  Scope inner = *this;
  inner.op_name_.clear();
  inner.name_prefix_ = name_prefix_ + std::string(name) + "/";
  inner.variable_prefix_ = variable_prefix_ + std::string(name) + "/";
  return inner;
}

Scope Scope::WithoutName() const {
  Scope inner = *this;
  inner.op_name_.clear();
  inner.name_prefix_.clear();
  inner.variable_prefix_.clear();
  return inner;
}

Scope Scope::Named(std::string_view op_name) const {
  Scope inner = *this;
  inner.op_name_ = op_name;
  return inner;
}

Scope Scope::WithDevice(std::string_view device) const {
  Scope inner = *this;
  inner.device_ = DeviceName::Parse(device).MergedInto(device_);
  return inner;
}

Scope Scope::WithDeviceFunction(DeviceFunction function) const {
  if (!function) return WithoutDevice();
  Scope inner = *this;
  inner.device_functions_ =
      std::make_shared<const DeviceLayer>(DeviceLayer{std::move(function), device_, device_functions_});
  inner.device_ = {};
  return inner;
}

Scope Scope::WithoutDevice() const {
  Scope inner = *this;
  inner.device_ = {};
  inner.device_functions_ = nullptr;
  return inner;
}

Scope Scope::ColocatedWith(NodeId node) const {
  Scope inner = *this;
  inner.colocate_with_ = {graph_->node(node).name};
  return inner;
}

Scope Scope::WithControlDependencies(const std::vector<NodeId>& nodes) const {
  Scope inner = *this;
  for (NodeId node : nodes)
    if (std::find(inner.control_.begin(), inner.control_.end(), node) == inner.control_.end())
      inner.control_.push_back(node);
  return inner;
}

Scope Scope::WithoutControlDependencies() const {
  Scope inner = *this;
  inner.control_.clear();
  return inner;
}

NodeId Scope::AddNode(OpKind kind, std::vector<Output> inputs, Attrs attrs) const {
  Node node;
  node.kind = kind;
  node.name = graph_->UniqueName(name_prefix_ + (op_name_.empty() ? std::string(OpName(kind)) : op_name_));
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  return Finish(std::move(node));
}

NodeId Scope::AddVariableNode(std::string_view name, DType dtype, const Shape& shape) const {
  Node node;
  node.kind = OpKind::kVariable;
  node.name = variable_prefix_ + std::string(name);
  if (graph_->Find(node.name) != kNoNode)
    throw Error(Code::kAlreadyExists, fmt::format("variable {} already exists in this graph", node.name));
  node.attrs = VariableAttrs{dtype, shape};
  return Finish(std::move(node));
}

NodeId Scope::Finish(Node node) const {
  // A variable is state: waiting for something before it exists would mean nothing.
  if (node.kind != OpKind::kVariable) node.control_inputs = control_;
  node.colocate_with = colocate_with_;
  if (colocate_with_.empty()) {
    node.device = device_;
    for (const DeviceLayer* layer = device_functions_.get(); layer != nullptr; layer = layer->outer.get())
      node.device = DeviceName::Parse(layer->function(node)).MergedInto(layer->device);
  }
  return graph_->Add(std::move(node));
}

}  // namespace muster
