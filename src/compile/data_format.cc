// Kernels know NHWC only. This pass turns each NCHW operation into its NHWC form between transposes, moves the
// transposes through operations that do not care about the order of axes, and lets opposite ones cancel, so that a
// network asked for in NCHW is transposed once at each edge.

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "compile/passes.h"

namespace muster {
namespace {

const std::vector<int> kToNHWC{0, 2, 3, 1};
const std::vector<int> kToNCHW{0, 3, 1, 2};
constexpr std::array<int, 4> kNHWCAxis{0, 3, 1, 2};  // NCHW axis -> NHWC axis

DataFormat* FormatOf(Attrs& attrs) {
  if (auto* a = attrs.get_if<ConvAttrs>()) return &a->data_format;
  if (auto* a = attrs.get_if<PoolAttrs>()) return &a->data_format;
  if (auto* a = attrs.get_if<BatchNormAttrs>()) return &a->data_format;
  if (auto* a = attrs.get_if<BiasAddAttrs>()) return &a->data_format;
  if (auto* a = attrs.get_if<LRNAttrs>()) return &a->data_format;
  return nullptr;
}

Shape ToNHWC(const Shape& s) { return Shape{s[0], s[2], s[3], s[1]}; }

// Filters are HWIO in both formats, so they and their gradients keep their axes.
bool IsFilterInput(OpKind kind, int input) {
  switch (kind) {
    case OpKind::kConv2D:
    case OpKind::kDepthwiseConv2dNative: return input == 1;
    case OpKind::kConv2DBackpropInput:
    case OpKind::kDepthwiseConv2dNativeBackpropInput: return input == 0;
    default: return false;
  }
}
bool IsFilterOutput(OpKind kind) {
  return kind == OpKind::kConv2DBackpropFilter || kind == OpKind::kDepthwiseConv2dNativeBackpropFilter;
}

bool IsElementwise(OpKind kind) {
  switch (kind) {
    // clang-format off
    case OpKind::kAdd: case OpKind::kSub: case OpKind::kMul: case OpKind::kDiv: case OpKind::kMaximum:
    case OpKind::kMinimum: case OpKind::kSquaredDifference: case OpKind::kNeg: case OpKind::kSquare: case OpKind::kSqrt:
    case OpKind::kRsqrt: case OpKind::kAbs: case OpKind::kExp: case OpKind::kLog: case OpKind::kCast:
    case OpKind::kAddN: case OpKind::kRelu: case OpKind::kRelu6: case OpKind::kSigmoid: case OpKind::kTanh:
    case OpKind::kSoftplus: case OpKind::kReluGrad: case OpKind::kRelu6Grad: case OpKind::kSigmoidGrad:
    case OpKind::kTanhGrad: case OpKind::kSoftplusGrad: case OpKind::kSelect: case OpKind::kGreaterEqual:
    case OpKind::kGreater: case OpKind::kLess: case OpKind::kLessEqual:
      // clang-format on
      return true;
    default: return false;
  }
}

class Converter {
 public:
  explicit Converter(CompileGraph& graph) : graph_(graph) {}

  void Run() {
    for (NodeId id : graph_.TopologicalOrder()) {
      const Node& node = graph_.node(id);
      if (DataFormat* format = FormatOf(graph_.mutable_attrs(id)); format != nullptr && *format == DataFormat::kNCHW) {
        // BiasAdd of [batch, channels] has its channels last already.
        if (Is4D(id)) ConvertFormatted(id);
        else *format = DataFormat::kNHWC;
      } else if (node.kind == OpKind::kTranspose) {
        TakeTranspose(id);
      } else if (HasConvertedInput(node)) {
        if (IsElementwise(node.kind)) ConvertElementwise(id);
        else ConvertAxes(id);
      }
    }
    graph_.RemoveUnused();
  }

 private:
  bool Is4D(NodeId id) const {
    const Node& node = graph_.node(id);
    for (Output in : node.inputs)
      if (graph_.desc(in).shape.rank() == 4) return true;
    return false;
  }

  bool HasConvertedInput(const Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](Output in) { return nhwc_.count(in) > 0; });
  }

  // A transpose that the user wrote may be one of ours already, or undo one.
  void TakeTranspose(NodeId id) {
    const Node& node = graph_.node(id);
    const std::vector<int>& perm = node.attr<TransposeAttrs>().perm;
    if (perm == kToNCHW) nhwc_[{id, 0}] = node.inputs[0];
    else if (auto it = nhwc_.find(node.inputs[0]); perm == kToNHWC && it != nhwc_.end() && node.control_inputs.empty())
      graph_.ReplaceUses({id, 0}, it->second);
  }

  // The NHWC form of an NCHW value: the one known, or a new transpose.
  Output Get(Output value, NodeId near) {
    auto it = nhwc_.find(value);
    if (it != nhwc_.end()) return it->second;
    const NodeId t =
        graph_.Add(OpKind::kTranspose, graph_.node(value.node).name + "/nhwc", {value}, TransposeAttrs{kToNHWC}, near);
    const std::vector<NodeId> after = graph_.ReadAfter(value, near);
    graph_.SetControlInputs(t, after);
    if (!after.empty()) return {t, 0};  // a read at a given moment: not for others
    return nhwc_[value] = Output{t, 0};
  }

  // Makes the NHWC node in place of "id", and gives its 4-D outputs NCHW forms that readers can use.
  void Replace(NodeId id, std::vector<Output> inputs, Attrs attrs, bool outputs_keep_axes = false) {
    const Node old = graph_.node(id);
    const NodeId made = graph_.Add(old.kind, old.name, std::move(inputs), std::move(attrs), id);
    graph_.SetControlInputs(made, old.control_inputs);
    for (int i = 0; i < static_cast<int>(old.outputs.size()); ++i) {
      Output result{made, i};
      if (old.outputs[static_cast<size_t>(i)].shape.rank() == 4 && !outputs_keep_axes) {
        const NodeId back = graph_.Add(OpKind::kTranspose, old.name + "/nchw", {result}, TransposeAttrs{kToNCHW}, id);
        nhwc_[{back, 0}] = result;
        result = {back, 0};
      }
      graph_.ReplaceUses({id, i}, result);
    }
    graph_.MoveControlUses(id, made);
    graph_.Remove(id);
  }

  void ConvertFormatted(NodeId id) {
    const Node node = graph_.node(id);
    std::vector<Output> inputs;
    for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
      const Output in = node.inputs[static_cast<size_t>(i)];
      const bool converts = graph_.desc(in).shape.rank() == 4 && !IsFilterInput(node.kind, i);
      inputs.push_back(converts ? Get(in, id) : in);
    }
    Node changed = node;
    *FormatOf(changed.attrs) = DataFormat::kNHWC;
    if (auto* a = changed.attrs.get_if<PoolAttrs>(); a != nullptr && a->target_shape.rank() == 4)
      a->target_shape = ToNHWC(a->target_shape);
    if (auto* a = changed.attrs.get_if<ConvAttrs>();
        a != nullptr && a->target_shape.rank() == 4 && !IsFilterOutput(node.kind))
      a->target_shape = ToNHWC(a->target_shape);
    Replace(id, std::move(inputs), std::move(changed.attrs), IsFilterOutput(node.kind));
  }

  // Same-shaped 4-D inputs and scalars only: anything else broadcasts by axis and keeps NCHW.
  void ConvertElementwise(NodeId id) {
    const Node node = graph_.node(id);
    std::vector<Output> inputs;
    for (Output in : node.inputs) {
      const Shape& s = graph_.desc(in).shape;
      if (s.rank() == 4 && s == node.outputs[0].shape) inputs.push_back(Get(in, id));
      else if (s.num_elements() == 1 && s.rank() == 0) inputs.push_back(in);
      else return;
    }
    Replace(id, std::move(inputs), node.attrs);
  }

  // Operations with axes in their attributes, when their one kind of 4-D input is known in NHWC form.
  void ConvertAxes(NodeId id) {
    const Node node = graph_.node(id);
    for (Output in : node.inputs)
      if (graph_.desc(in).shape.rank() != 4) return;
    std::optional<Attrs> attrs = MovedAxes(node);
    if (!attrs) return;
    std::vector<Output> inputs;
    for (Output in : node.inputs) inputs.push_back(Get(in, id));
    Replace(id, std::move(inputs), std::move(*attrs));
  }

  static std::optional<Attrs> MovedAxes(const Node& node) {
    if (node.kind == OpKind::kConcat) {
      return AxisAttrs{kNHWCAxis[static_cast<size_t>(node.attr<AxisAttrs>().axis)]};
    }
    if (node.kind == OpKind::kSplit) {
      SplitAttrs a = node.attr<SplitAttrs>();
      a.axis = kNHWCAxis[static_cast<size_t>(a.axis)];
      return a;
    }
    if (node.kind == OpKind::kPad || node.kind == OpKind::kMirrorPadGrad) {
      PadAttrs a = node.attr<PadAttrs>();
      a.paddings = {a.paddings[0], a.paddings[2], a.paddings[3], a.paddings[1]};
      return a;
    }
    if (node.kind == OpKind::kSlice) {
      SliceAttrs a = node.attr<SliceAttrs>();
      a.begin = {a.begin[0], a.begin[2], a.begin[3], a.begin[1]};
      a.size = {a.size[0], a.size[2], a.size[3], a.size[1]};
      return a;
    }
    if (node.kind == OpKind::kSum || node.kind == OpKind::kMean || node.kind == OpKind::kMax ||
        node.kind == OpKind::kMin) {
      ReduceAttrs a = node.attr<ReduceAttrs>();
      // Without kept dimensions the order of what remains must not change: only the spatial pair qualifies.
      if (!a.keep_dims && a.axes != std::vector<int>{2, 3}) return std::nullopt;
      for (int& axis : a.axes) axis = kNHWCAxis[static_cast<size_t>(axis)];
      std::sort(a.axes.begin(), a.axes.end());
      return a;
    }
    return std::nullopt;
  }

  CompileGraph& graph_;
  std::map<Output, Output> nhwc_;  // NCHW value -> the same in NHWC
};

}  // namespace

void ConvertToNHWC(CompileGraph& graph) { Converter(graph).Run(); }

}  // namespace muster
