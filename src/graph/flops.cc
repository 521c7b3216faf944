#include "graph/flops.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "graph/op_def.h"

namespace muster {
namespace {

int64_t OutputElements(const Node& node, size_t index = 0) { return node.outputs[index].shape.num_elements(); }

// Output positions of a convolution times the elements of its filter, per group of input channels.
int64_t ConvMultiplyAdds(const Shape& image_out, const Shape& filter, DataFormat format) {
  const int channel_axis = format == DataFormat::kNCHW ? 1 : image_out.rank() - 1;
  const int64_t positions = image_out.num_elements() / std::max<int64_t>(1, image_out[channel_axis]);
  return positions * filter.num_elements();
}

int64_t WindowSize(const Node& node) {
  const auto& attrs = node.attr<PoolAttrs>();
  return attrs.ksize[0] * attrs.ksize[1];
}

int64_t MatMulMultiplyAdds(const Node& node, const Shape& a) {
  return OutputElements(node) * a[node.attr<MatMulAttrs>().transpose_a ? 0 : 1];
}

bool IsCounted(std::string_view component, std::string_view kind) {
  return component.starts_with(kind) && component.size() > kind.size() &&
         std::all_of(component.begin() + static_cast<std::ptrdiff_t>(kind.size()), component.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

bool HoldsNewBytes(const Node& node) {
  return node.kind != OpKind::kVariable && node.kind != OpKind::kConst && !GetOpDef(node.kind).is_alias &&
         GetOpDef(node.kind).num_refs == 0;
}

void AddTo(const Graph& graph, const Node& node, LayerSummary* row) {
  if (node.kind == OpKind::kVariable) {
    const VariableInfo* info = graph.FindVariable(node.id);
    (info != nullptr && info->trainable ? row->parameters : row->other_values) += OutputElements(node);
    return;
  }
  ++row->num_ops;
  row->multiply_adds += MultiplyAdds(graph, node);
  row->float_ops += FloatOps(graph, node);
  // A layer's result is what its last operation gives, updates of running averages aside.
  if (!node.outputs.empty() && node.name.find("/AssignMovingAvg") == std::string::npos) row->output = node.outputs[0];
  if (row->device.empty()) row->device = node.device.ToString();
  if (HoldsNewBytes(node))
    for (const TensorDesc& desc : node.outputs) row->activation_bytes += desc.byte_size();
}

}  // namespace

int64_t MultiplyAdds(const Graph& graph, const Node& node) {
  std::vector<Shape> inputs;
  for (Output input : node.inputs) inputs.push_back(graph.shape(input));
  return MultiplyAdds(node, inputs);
}

int64_t MultiplyAdds(const Node& node, const std::vector<Shape>& inputs) {
  switch (node.kind) {
    case OpKind::kMatMul:
    case OpKind::k_FusedMatMul: return MatMulMultiplyAdds(node, inputs[0]);
    case OpKind::k_MatMulApplyGradientDescent:  // (var, alpha, x, dy)
      return inputs[2][0] * OutputElements(node);
    case OpKind::kConv2D:
    case OpKind::k_FusedConv2D:
    case OpKind::kDepthwiseConv2dNative:
      return ConvMultiplyAdds(node.outputs[0].shape, inputs[1], node.attr<ConvAttrs>().data_format);
    case OpKind::kConv2DBackpropInput:  // (filter, dy)
    case OpKind::kDepthwiseConv2dNativeBackpropInput:
      return ConvMultiplyAdds(inputs[1], inputs[0], node.attr<ConvAttrs>().data_format);
    case OpKind::kConv2DBackpropFilter:  // (x, dy)
    case OpKind::k_FusedConv2DBackpropFilter:
    case OpKind::kDepthwiseConv2dNativeBackpropFilter:
      return ConvMultiplyAdds(inputs[1], node.outputs[0].shape, node.attr<ConvAttrs>().data_format);
    default: return 0;
  }
}

int64_t FloatOps(const Graph& graph, const Node& node) {
  switch (node.kind) {
    case OpKind::kAdd:
    case OpKind::kSub:
    case OpKind::kMul:
    case OpKind::kDiv:
    case OpKind::kPow:
    case OpKind::kMaximum:
    case OpKind::kMinimum:
    case OpKind::kSquaredDifference:
    case OpKind::kNeg:
    case OpKind::kSquare:
    case OpKind::kRsqrt:
    case OpKind::kReciprocal:
    case OpKind::kLog:
    case OpKind::kBiasAdd: return OutputElements(node);
    case OpKind::kAddN: return OutputElements(node) * static_cast<int64_t>(node.inputs.size() - 1);
    case OpKind::kMaxPool:
    case OpKind::kAvgPool: return OutputElements(node) * WindowSize(node);
    case OpKind::kMaxPoolGrad:
    case OpKind::kAvgPoolGrad: return graph.shape(node.inputs.back()).num_elements() * WindowSize(node);
    case OpKind::kSum:
    case OpKind::kMean:
    case OpKind::kBiasAddGrad: return graph.shape(node.inputs[0]).num_elements();
    default: return 2 * MultiplyAdds(graph, node);
  }
}

std::vector<NodeId> Ancestors(const Graph& graph, const std::vector<NodeId>& of) {
  std::vector<bool> needed(static_cast<size_t>(graph.num_nodes()), false);
  for (NodeId id : of) needed[static_cast<size_t>(id)] = true;
  // Ids are topological, so that one pass from the end finds everything.
  std::vector<NodeId> result;
  for (NodeId id = graph.num_nodes() - 1; id >= 0; --id) {
    if (!needed[static_cast<size_t>(id)]) continue;
    result.push_back(id);
    for (const Output& input : graph.node(id).inputs) needed[static_cast<size_t>(input.node)] = true;
    for (NodeId control : graph.node(id).control_inputs) needed[static_cast<size_t>(control)] = true;
  }
  std::reverse(result.begin(), result.end());
  return result;
}

std::string LayerName(const std::string& node_name) {
  const std::string_view name = node_name;
  if (name.starts_with("gradients")) return std::string(name.substr(0, name.find('/')));
  size_t begin = 0;
  for (size_t slash = name.find('/'); slash != name.npos; begin = slash + 1, slash = name.find('/', begin)) {
    const std::string_view component = name.substr(begin, slash - begin);
    if (component.starts_with("update_") && begin > 0) return std::string(name.substr(0, begin - 1));
    if (IsCounted(component, "conv") || IsCounted(component, "affine")) return std::string(name.substr(0, slash));
  }
  return begin == 0 ? node_name : node_name.substr(0, begin - 1);
}

std::vector<LayerSummary> SummarizeLayers(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::vector<LayerSummary> rows;
  std::map<std::string, size_t> row_of;
  for (NodeId id : nodes) {
    const Node& node = graph.node(id);
    const std::string layer = LayerName(node.name);
    const auto [it, is_new] = row_of.try_emplace(layer, rows.size());
    if (is_new) rows.push_back({.name = layer});
    AddTo(graph, node, &rows[it->second]);
  }
  return rows;
}

}  // namespace muster
