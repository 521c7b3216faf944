#include "graph/attr_fields.h"

#include <utility>

#include "graph/ops/window.h"

namespace muster {
namespace {

using Fields = std::vector<AttrField>;

template <typename Numbers>
std::vector<int64_t> Ints(const Numbers& numbers) {
  return {numbers.begin(), numbers.end()};
}

std::vector<int64_t> Flat(const std::vector<std::pair<int64_t, int64_t>>& pairs) {
  std::vector<int64_t> flat;
  for (const auto& [before, after] : pairs) flat.insert(flat.end(), {before, after});
  return flat;
}

AttrField Flag(const char* name, bool value) { return {name, value, !value}; }
AttrField ActivationField(Activation value) {
  return {"activation", ActivationName(value), value == Activation::kNone};
}
AttrField FormatField(DataFormat value) {
  return {"data_format", std::string(DataFormatName(value)), value == DataFormat::kNHWC};
}

// One overload per attribute struct.
struct ToFields {
  Fields operator()(const NoAttrs&) const { return {}; }
  Fields operator()(const PlaceholderAttrs& a) const { return {{"dtype", a.dtype}, {"shape", a.shape}}; }
  Fields operator()(const ConstAttrs& a) const { return {{"value", a.value}}; }
  Fields operator()(const FillAttrs& a) const { return {{"dtype", a.dtype}, {"dims", a.shape}, {"value", a.value}}; }
  Fields operator()(const VariableAttrs& a) const { return {{"dtype", a.dtype}, {"shape", a.shape}}; }
  Fields operator()(const CastAttrs& a) const { return {{"DstT", a.to}}; }
  Fields operator()(const ShapeAttrs& a) const { return {{"shape", a.shape}}; }
  Fields operator()(const TransposeAttrs& a) const { return {{"perm", Ints(a.perm)}}; }
  Fields operator()(const AxisAttrs& a) const { return {{"axis", int64_t{a.axis}}}; }
  Fields operator()(const SplitAttrs& a) const { return {{"axis", int64_t{a.axis}}, {"size_splits", a.sizes}}; }
  Fields operator()(const SqueezeAttrs& a) const { return {{"squeeze_dims", Ints(a.axes)}}; }
  Fields operator()(const SliceAttrs& a) const { return {{"begin", a.begin}, {"size", a.size}}; }
  Fields operator()(const PadAttrs& a) const {
    return {{"paddings", Flat(a.paddings)},
            {"mode", PadModeName(a.mode), a.mode == PadMode::kConstant},
            {"constant_values", a.constant, a.constant == 0}};
  }
  Fields operator()(const TileAttrs& a) const { return {{"multiples", a.multiples}}; }
  Fields operator()(const ReduceAttrs& a) const { return {{"axes", Ints(a.axes)}, Flag("keep_dims", a.keep_dims)}; }
  Fields operator()(const MatMulAttrs& a) const {
    return {Flag("transpose_a", a.transpose_a), Flag("transpose_b", a.transpose_b), ActivationField(a.activation)};
  }
  Fields operator()(const ConvAttrs& a) const {
    return {{"strides", Ints(a.strides)},
            {"padding", PaddingName(a.padding)},
            {"explicit_paddings", Ints(a.explicit_paddings), a.padding != Padding::kExplicit},
            {"dilations", Ints(a.dilations), a.dilations == std::array<int64_t, 2>{1, 1}},
            FormatField(a.data_format),
            {"target_shape", a.target_shape, a.target_shape == Shape{}},
            ActivationField(a.activation)};
  }
  Fields operator()(const PoolAttrs& a) const {
    return {{"ksize", Ints(a.ksize)},
            {"strides", Ints(a.strides)},
            {"padding", PaddingName(a.padding)},
            {"explicit_paddings", Ints(a.explicit_paddings), a.padding != Padding::kExplicit},
            FormatField(a.data_format),
            {"target_shape", a.target_shape, a.target_shape == Shape{}}};
  }
  Fields operator()(const BatchNormAttrs& a) const {
    return {{"epsilon", a.epsilon},
            {"is_training", a.is_training},
            FormatField(a.data_format),
            ActivationField(a.activation),
            Flag("has_side_input", a.has_side_input)};
  }
  Fields operator()(const BiasAddAttrs& a) const { return {FormatField(a.data_format)}; }
  Fields operator()(const LRNAttrs& a) const {
    return {{"depth_radius", int64_t{a.depth_radius}},
            {"bias", a.bias},
            {"alpha", a.alpha},
            {"beta", a.beta},
            FormatField(a.data_format)};
  }
  Fields operator()(const TopKAttrs& a) const { return {{"k", int64_t{a.k}}}; }
  Fields operator()(const OneHotAttrs& a) const {
    return {{"depth", a.depth}, {"on_value", a.on_value}, {"off_value", a.off_value}, {"dtype", a.dtype}};
  }
  Fields operator()(const RandomAttrs& a) const {
    const bool no_range = a.minval == 0 && a.maxval == 0;
    return {{"dtype", a.dtype},
            {"shape", a.shape},
            {"seed", a.seed},
            {"minval", a.minval, no_range},
            {"maxval", a.maxval, no_range}};
  }
  Fields operator()(const ApplyAttrs& a) const { return {Flag("use_nesterov", a.use_nesterov)}; }
  Fields operator()(const BucketAttrs& a) const {
    // One list: each shape's rank, then its dimensions.
    std::vector<int64_t> shapes;
    for (const Shape& shape : a.shapes) {
      shapes.push_back(shape.rank());
      shapes.insert(shapes.end(), shape.dims().begin(), shape.dims().end());
    }
    return {{"shapes", shapes}};
  }
  Fields operator()(const CollectiveAttrs& a) const {
    return {{"instance", a.instance}, {"group_size", int64_t{a.size}}, {"rank", int64_t{a.rank}}, {"scale", a.scale}};
  }
  Fields operator()(const ChannelAttrs& a) const { return {{"channel", int64_t{a.channel}}, {"desc", a.desc}}; }
};

}  // namespace

std::vector<AttrField> AttrFields(const Attrs& attrs) { return std::visit(ToFields(), attrs.variant()); }

std::string PaddingName(Padding padding) {
  switch (padding) {
    case Padding::kSame: return "SAME";
    case Padding::kValid: return "VALID";
    case Padding::kExplicit: return "EXPLICIT";
  }
  return "?";
}

std::string PadModeName(PadMode mode) {
  switch (mode) {
    case PadMode::kConstant: return "CONSTANT";
    case PadMode::kReflect: return "REFLECT";
    case PadMode::kSymmetric: return "SYMMETRIC";
  }
  return "?";
}

std::string ActivationName(Activation activation) {
  switch (activation) {
    case Activation::kNone: return "Identity";
    case Activation::kRelu: return "Relu";
  }
  return "?";
}

}  // namespace muster
