// GraphDef form of convolution, pooling and normalisation.
#include "graph/attr_fields.h"
#include "graph/graphdef_writer.h"
#include "graph/ops/window.h"

namespace muster {
namespace {

std::vector<int64_t> Dims(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

// One number per axis in TensorFlow's lists of four, from those of height and width.
std::vector<int64_t> FourAxes(const std::array<int64_t, 2>& hw, DataFormat format) {
  if (format == DataFormat::kNHWC) return {1, hw[0], hw[1], 1};
  return {1, 1, hw[0], hw[1]};
}

// Before and after each axis.
std::vector<int64_t> EightPaddings(const std::array<int64_t, 4>& p, DataFormat format) {
  if (format == DataFormat::kNHWC) return {0, 0, p[0], p[1], p[2], p[3], 0, 0};
  return {0, 0, 0, 0, p[0], p[1], p[2], p[3]};
}

void WritePadding(GraphDefWriter& w, Padding padding, const std::array<int64_t, 4>& sizes, DataFormat format) {
  w.String("padding", PaddingName(padding));
  if (padding == Padding::kExplicit) w.Ints("explicit_paddings", EightPaddings(sizes, format));
  w.String("data_format", DataFormatName(format));
}

// The gradients take the shape of what they produce as an input: BackpropInput first, BackpropFilter second.
void WriteConvInputs(GraphDefWriter& w) {
  const Shape& target = w.attr<ConvAttrs>().target_shape;
  switch (w.node().kind) {
    case OpKind::kConv2DBackpropInput:
    case OpKind::kDepthwiseConv2dNativeBackpropInput:
      w.ConstInput("input_sizes", Dims(target));
      w.AllInputs();
      return;
    case OpKind::kConv2DBackpropFilter:
    case OpKind::kDepthwiseConv2dNativeBackpropFilter:
      w.Input(0);
      w.ConstInput("filter_sizes", Dims(target));
      w.Input(1);
      return;
    default: w.AllInputs();
  }
}

void WriteConvAttrs(GraphDefWriter& w) {
  const auto& a = w.attr<ConvAttrs>();
  w.Type("T", w.input_type(0));
  w.Ints("strides", FourAxes(a.strides, a.data_format));
  w.Ints("dilations", FourAxes(a.dilations, a.data_format));
  WritePadding(w, a.padding, a.explicit_paddings, a.data_format);
}

void WriteConv(GraphDefWriter& w) {
  w.Op(OpName(w.node().kind));
  WriteConvInputs(w);
  WriteConvAttrs(w);
}

void WritePool(GraphDefWriter& w) {
  const auto& a = w.attr<PoolAttrs>();
  w.Op(OpName(w.node().kind));
  if (w.node().kind == OpKind::kAvgPoolGrad) w.ConstInput("orig_input_shape", Dims(a.target_shape));
  w.AllInputs();
  w.Type("T", w.input_type(0));
  w.Ints("ksize", FourAxes(a.ksize, a.data_format));
  w.Ints("strides", FourAxes(a.strides, a.data_format));
  WritePadding(w, a.padding, a.explicit_paddings, a.data_format);
}

// The first version knows float32 only; the second has a type of its own for scale and statistics.
void WriteBatchNorm(GraphDefWriter& w, bool is_gradient) {
  const auto& a = w.attr<BatchNormAttrs>();
  const DType type = w.input_type(is_gradient ? 1 : 0), statistics = w.input_type(is_gradient ? 2 : 1);
  const bool second = type != DType::kFloat32;
  w.Op(is_gradient ? (second ? "FusedBatchNormGradV2" : "FusedBatchNormGrad")
                   : (second ? "FusedBatchNormV2" : "FusedBatchNorm"));
  w.AllInputs();
  w.Type("T", type);
  if (second) w.Type("U", statistics);
  w.Float("epsilon", a.epsilon);
  w.Bool("is_training", a.is_training);
  w.String("data_format", DataFormatName(a.data_format));
}

void WriteLRN(GraphDefWriter& w) {
  const auto& a = w.attr<LRNAttrs>();
  w.Op(OpName(w.node().kind));
  w.AllInputs();
  w.Type("T", w.input_type(0));
  w.Int("depth_radius", a.depth_radius);
  w.Float("bias", a.bias);
  w.Float("alpha", a.alpha);
  w.Float("beta", a.beta);
}

}  // namespace

bool WriteImageOp(GraphDefWriter& w) {
  switch (w.node().kind) {
    case OpKind::kConv2D:
    case OpKind::kConv2DBackpropInput:
    case OpKind::kConv2DBackpropFilter:
    case OpKind::kDepthwiseConv2dNative:
    case OpKind::kDepthwiseConv2dNativeBackpropInput:
    case OpKind::kDepthwiseConv2dNativeBackpropFilter: WriteConv(w); return true;
    case OpKind::kMaxPool:
    case OpKind::kMaxPoolGrad:
    case OpKind::kAvgPool:
    case OpKind::kAvgPoolGrad: WritePool(w); return true;
    case OpKind::kFusedBatchNorm: WriteBatchNorm(w, false); return true;
    case OpKind::kFusedBatchNormGrad: WriteBatchNorm(w, true); return true;
    case OpKind::kLRN:
    case OpKind::kLRNGrad: WriteLRN(w); return true;
    case OpKind::kBiasAdd:
    case OpKind::kBiasAddGrad:
      w.Op(OpName(w.node().kind));
      w.AllInputs();
      w.Type("T", w.input_type(0));
      w.String("data_format", DataFormatName(w.attr<BiasAddAttrs>().data_format));
      return true;
    default: return false;
  }
}

}  // namespace muster
