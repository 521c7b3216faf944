#include <bit>

#include "base/hash.h"
#include "graph/attr_fields.h"
#include "muster/graph_export.h"

namespace muster {
namespace {

void AddShape(StableHash* hash, const Shape& shape) {
  hash->Add(static_cast<uint64_t>(shape.rank()));
  for (const int64_t dim : shape.dims()) hash->Add(static_cast<uint64_t>(dim));
}

void AddDType(StableHash* hash, DType dtype) { hash->Add(DTypeName(dtype)); }

void AddDesc(StableHash* hash, const TensorDesc& desc) {
  AddDType(hash, desc.dtype);
  AddShape(hash, desc.shape);
  hash->Add(desc.layout.ToString());
}

struct AddValue {
  StableHash* hash;

  void operator()(bool value) const { hash->Add(uint64_t{value}); }
  void operator()(int64_t value) const { hash->Add(static_cast<uint64_t>(value)); }
  void operator()(double value) const { hash->Add(std::bit_cast<uint64_t>(value)); }
  void operator()(const std::string& value) const { hash->Add(value); }
  void operator()(DType value) const { AddDType(hash, value); }
  void operator()(const Shape& value) const { AddShape(hash, value); }
  void operator()(const std::vector<int64_t>& value) const {
    hash->AddBytes(value.data(), value.size() * sizeof(int64_t));
  }
  void operator()(const Tensor& value) const {
    AddDesc(hash, value.desc());
    hash->AddBytes(value.raw(), value.byte_size());
  }
  void operator()(const TensorDesc& value) const { AddDesc(hash, value); }
};

// Operations, attributes and types go in by name, not by number, so that a new kind in the middle of a list leaves
// stored fingerprints valid.
void AddNode(StableHash* hash, const Node& node) {
  hash->Add(OpName(node.kind));
  hash->Add(node.name);
  hash->Add(node.inputs.size());
  for (const Output& input : node.inputs) {
    hash->Add(static_cast<uint64_t>(input.node));
    hash->Add(static_cast<uint64_t>(input.index));
  }
  hash->Add(node.control_inputs.size());
  for (const NodeId control : node.control_inputs) hash->Add(static_cast<uint64_t>(control));
  hash->Add(node.device.ToString());
  hash->Add(node.colocate_with.size());
  for (const std::string& name : node.colocate_with) hash->Add(name);
  const std::vector<AttrField> fields = AttrFields(node.attrs);
  hash->Add(fields.size());
  for (const AttrField& field : fields) {
    hash->Add(field.name);
    std::visit(AddValue{hash}, field.value);
  }
  hash->Add(node.outputs.size());
  for (const TensorDesc& desc : node.outputs) AddDesc(hash, desc);
}

}  // namespace

uint64_t GraphFingerprint(const Graph& graph) {
  StableHash hash;
  hash.Add(static_cast<uint64_t>(graph.seed()));
  hash.Add(static_cast<uint64_t>(graph.num_nodes()));
  for (NodeId id = 0; id < graph.num_nodes(); ++id) AddNode(&hash, graph.node(id));
  hash.Add(graph.variables().size());
  for (const VariableInfo& variable : graph.variables()) {
    hash.Add(variable.name);
    hash.Add(static_cast<uint64_t>(variable.ref.node));
    hash.Add(static_cast<uint64_t>(variable.initializer));
    hash.Add(uint64_t{variable.trainable});
  }
  hash.Add(graph.update_ops().size());
  for (const NodeId update : graph.update_ops()) hash.Add(static_cast<uint64_t>(update));
  return hash.value();
}

}  // namespace muster
