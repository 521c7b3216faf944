// ResNet with bottleneck blocks, for ImageNet: v1 (He et al. 2015), v1.5 (stride on the 3x3) and v2 (He et al. 2016).

#include "models/zoo.h"

namespace muster::zoo {
namespace {

using Strides = std::array<int64_t, 2>;

// What the input of a block is added to: itself, or brought to the block's depth and size.
Output Shortcut(ModelBuilder& b, Output x, Output projected, int64_t depth, int64_t stride, bool batch_norm) {
  const Strides strides{stride, stride};
  if (b.channels(x) != depth)
    return b.Conv(projected, depth, 1, 1,
                  {.strides = strides, .activation = LayerActivation::kLinear, .batch_norm = batch_norm, .bias = {}});
  return stride == 1 ? x : b.AvgPool(x, 1, 1, {.strides = strides});
}

// The three convolutions; normalize_last: whether batch norm follows the last one too.
Output Residual(ModelBuilder& b, Output x, int64_t depth, int64_t stride, bool stride_on_3x3, bool normalize_last) {
  const Strides strides{stride, stride}, none{1, 1};
  const int64_t narrow = depth / 4;
  x = b.Conv(x, narrow, 1, 1, {.strides = stride_on_3x3 ? none : strides, .batch_norm = true, .bias = {}});
  x = b.Conv(
      x, narrow, 3, 3,
      {.strides = stride_on_3x3 ? strides : none, .padding = ConvPadding::kSameResnet, .batch_norm = true, .bias = {}});
  return b.Conv(x, depth, 1, 1, {.activation = LayerActivation::kLinear, .batch_norm = normalize_last, .bias = {}});
}

Output BlockV1(ModelBuilder& b, Output x, int64_t depth, int64_t stride, bool stride_on_3x3) {
  return b.Within(b.CountedName(stride_on_3x3 ? "resnet_v1.5" : "resnet_v1"), [&] {
    const Output shortcut = Shortcut(b, x, x, depth, stride, true);
    return b.Relu(b.Add(shortcut, Residual(b, x, depth, stride, stride_on_3x3, true)));
  });
}

Output BlockV2(ModelBuilder& b, Output x, int64_t depth, int64_t stride) {
  const std::string name = b.CountedName("resnet_v2");
  const Output activated = b.Relu(b.BatchNorm(x));
  return b.Within(name, [&] {
    const Output shortcut = Shortcut(b, x, activated, depth, stride, false);
    return b.Add(shortcut, Residual(b, activated, depth, stride, false, false));
  });
}

}  // namespace

Output Resnet(ModelBuilder& b, Output x, const std::array<int, 4>& stages, ResnetVersion version) {
  b.UseBatchNorm({.decay = 0.9, .epsilon = 1e-5, .scale = true});
  x = b.Conv(x, 64, 7, 7, {.strides = {2, 2}, .padding = ConvPadding::kSameResnet});
  x = b.MaxPool(x, 3, 3, {.padding = Padding::kSame});
  int64_t depth = 256;
  for (size_t stage = 0; stage < stages.size(); ++stage, depth *= 2) {
    for (int i = 0; i < stages[stage]; ++i) {
      const int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      x = version == ResnetVersion::kV2 ? BlockV2(b, x, depth, stride)
                                        : BlockV1(b, x, depth, stride, version == ResnetVersion::kV15);
    }
  }
  if (version == ResnetVersion::kV2) x = b.Relu(b.BatchNorm(x));
  return b.SpatialMean(x);
}

Schedule ResnetSchedule(const Model& model, const RateContext& context) {
  const double base = context.resnet_base_lr > 0 ? context.resnet_base_lr : model.learning_rate;
  const double rate = base / context.summed_towers * (context.images_per_step / 256);
  const double steps_per_epoch = static_cast<double>(context.train_images) / context.images_per_step;
  schedules::Piecewise tenths;
  for (int epoch : {30, 60, 80, 90}) tenths.boundaries.push_back(static_cast<int64_t>(steps_per_epoch * epoch));
  for (double factor : {1.0, 0.1, 0.01, 0.001, 0.0001}) tenths.rates.push_back(rate * factor);
  return {.rule = tenths, .warmup_steps = static_cast<int64_t>(steps_per_epoch * 5), .warmup_rate = rate};
}

}  // namespace muster::zoo
