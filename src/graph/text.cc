#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/hash.h"
#include "graph/attr_fields.h"
#include "muster/graph_export.h"

namespace muster {
namespace {

// Constants up to this size are printed, larger ones named by a hash.
constexpr int64_t kMostElementsShown = 8;

template <typename T>
std::string Elements(const Tensor& tensor) {
  const auto values = tensor.data<T>();
  if (tensor.shape().rank() == 0) return fmt::format("{}", values[0]);
  return fmt::format("[{}]", fmt::join(values, ","));
}

// 16-bit floats as their values.
template <typename T>
std::string HalfElements(const Tensor& tensor) {
  std::vector<float> values;
  for (const T value : tensor.data<T>()) values.push_back(ToFloat(value));
  if (tensor.shape().rank() == 0) return fmt::format("{}", values[0]);
  return fmt::format("[{}]", fmt::join(values, ","));
}

std::string BoolElements(const Tensor& tensor) {
  std::vector<const char*> values;
  for (const bool value : tensor.data<bool>()) values.push_back(value ? "true" : "false");
  if (tensor.shape().rank() == 0) return values[0];
  return fmt::format("[{}]", fmt::join(values, ","));
}

std::string TensorText(const Tensor& tensor) {
  if (tensor.shape().num_elements() > kMostElementsShown) {
    StableHash hash;
    hash.AddBytes(tensor.raw(), tensor.byte_size());
    return fmt::format("<{} bytes, hash {:016x}>", tensor.byte_size(), hash.value());
  }
  switch (tensor.dtype()) {
    case DType::kFloat32: return Elements<float>(tensor);
    case DType::kFloat64: return Elements<double>(tensor);
    case DType::kFloat16: return HalfElements<Float16>(tensor);
    case DType::kBFloat16: return HalfElements<BFloat16>(tensor);
    case DType::kInt32: return Elements<int32_t>(tensor);
    case DType::kInt64: return Elements<int64_t>(tensor);
    case DType::kUInt8: return Elements<uint8_t>(tensor);
    case DType::kBool: return BoolElements(tensor);
  }
  return "?";
}

struct ValueText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(DType value) const { return std::string(DTypeName(value)); }
  std::string operator()(const Shape& value) const { return value.ToString(); }
  std::string operator()(const std::vector<int64_t>& value) const { return fmt::format("[{}]", fmt::join(value, ",")); }
  std::string operator()(const Tensor& value) const { return TensorText(value); }
  std::string operator()(const TensorDesc& value) const { return value.ToString(); }
};

std::string InputsText(const Graph& graph, const Node& node) {
  std::vector<std::string> inputs;
  for (const Output& input : node.inputs) {
    const std::string& name = graph.node(input.node).name;
    inputs.push_back(input.index == 0 ? name : fmt::format("{}:{}", name, input.index));
  }
  for (const NodeId control : node.control_inputs) inputs.push_back("^" + graph.node(control).name);
  return fmt::format("{}", fmt::join(inputs, ", "));
}

std::string AttrsText(const Attrs& attrs) {
  std::vector<std::string> texts;
  for (const AttrField& field : AttrFields(attrs))
    if (!field.is_default) texts.push_back(fmt::format("{}={}", field.name, std::visit(ValueText(), field.value)));
  return texts.empty() ? "" : fmt::format(" {{{}}}", fmt::join(texts, " "));
}

std::string OutputsText(const Node& node) {
  std::vector<std::string> outputs;
  for (const TensorDesc& desc : node.outputs) outputs.push_back(desc.ToString());
  return outputs.empty() ? "" : fmt::format(" : {}", fmt::join(outputs, ", "));
}

std::string PlacementText(const Node& node) {
  std::string text;
  if (!node.device.is_empty()) text += " @" + node.device.ToString();
  if (!node.colocate_with.empty()) text += fmt::format(" with {}", fmt::join(node.colocate_with, ", "));
  return text;
}

}  // namespace

std::string NodeToText(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  return fmt::format("{} = {}({}){}{}{}", node.name, OpName(node.kind), InputsText(graph, node), AttrsText(node.attrs),
                     OutputsText(node), PlacementText(node));
}

std::string GraphToText(const Graph& graph) {
  int64_t trainable = 0, all = 0;
  for (const VariableInfo& variable : graph.variables()) {
    const int64_t elements = graph.shape(variable.ref).num_elements();
    all += elements;
    if (variable.trainable) trainable += elements;
  }
  std::string text =
      fmt::format("# {} nodes, {} variables with {} values ({} trainable), seed {}, fingerprint {:016x}\n",
                  graph.num_nodes(), graph.variables().size(), all, trainable, graph.seed(), GraphFingerprint(graph));
  for (NodeId id = 0; id < graph.num_nodes(); ++id) text += NodeToText(graph, id) + "\n";
  return text;
}

}  // namespace muster
