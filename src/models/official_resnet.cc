// The ResNets of TensorFlow's model garden (He et al. 2015 and 2016), with the names of tf.layers. They differ from
// resnet.cc in the place of strides (v1: on the 3x3, as v1.5), in projections at the start of every stage, in the decay
// of the running averages and in a stem without batch norm in v2.

#include "models/zoo.h"

#include <fmt/format.h>

#include "muster/error.h"

namespace muster::zoo {
namespace {

constexpr BatchNormConfig kBatchNorm{.decay = 0.997, .epsilon = 1e-5, .scale = true};

Output Conv(ModelBuilder& b, Output x, int64_t filters, int64_t size, int64_t stride = 1) {
  return b.Conv(x, filters, size, size,
                {.strides = {stride, stride},
                 .padding = ConvPadding::kSameResnet,
                 .activation = LayerActivation::kLinear,
                 .batch_norm = false,
                 .bias = {},
                 .kernel_initializer = initializers::VarianceScaling()});
}

Output Norm(ModelBuilder& b, Output x) { return b.BatchNorm(x, kBatchNorm); }
Output NormRelu(ModelBuilder& b, Output x) { return b.Relu(Norm(b, x)); }

struct Block {
  int64_t filters;  // of the narrow convolutions
  int64_t stride;
  bool bottleneck;  // 1x1, 3x3, 1x1 to four times the filters; otherwise 3x3 twice
  bool project;     // the first of its stage
  int64_t width() const { return bottleneck ? 4 * filters : filters; }
};

// The convolutions of a block, batch norm and ReLU between them.
Output Convolutions(ModelBuilder& b, Output x, const Block& block) {
  if (!block.bottleneck) return Conv(b, NormRelu(b, Conv(b, x, block.filters, 3, block.stride)), block.filters, 3);
  x = NormRelu(b, Conv(b, x, block.filters, 1));
  x = NormRelu(b, Conv(b, x, block.filters, 3, block.stride));
  return Conv(b, x, block.width(), 1);
}

Output BlockV1(ModelBuilder& b, Output x, const Block& block) {
  const Output shortcut = block.project ? Norm(b, Conv(b, x, block.width(), 1, block.stride)) : x;
  return b.Relu(b.Add(Norm(b, Convolutions(b, x, block)), shortcut));
}

Output BlockV2(ModelBuilder& b, Output x, const Block& block) {
  const Output activated = NormRelu(b, x);
  const Output shortcut = block.project ? Conv(b, activated, block.width(), 1, block.stride) : x;
  return b.Add(Convolutions(b, activated, block), shortcut);
}

struct Depth {
  int size;
  std::array<int, 4> stages;
};
constexpr Depth kDepths[] = {{18, {2, 2, 2, 2}},   {34, {3, 4, 6, 3}},   {50, {3, 4, 6, 3}},
                             {101, {3, 4, 23, 3}}, {152, {3, 8, 36, 3}}, {200, {3, 24, 36, 3}}};

const std::array<int, 4>& StagesOf(int size) {
  for (const Depth& depth : kDepths)
    if (depth.size == size) return depth.stages;
  throw InvalidArgument(fmt::format("an official ResNet has 18, 34, 50, 101, 152 or 200 layers, not {}", size));
}

Output Network(ModelBuilder& b, Output x, int size, bool v2) {
  x = Conv(b, x, 64, 7, 2);
  if (!v2) x = NormRelu(b, x);
  x = b.MaxPool(x, 3, 3, {.padding = Padding::kSame});
  int64_t filters = 64;
  const std::array<int, 4>& stages = StagesOf(size);
  for (size_t stage = 0; stage < stages.size(); ++stage, filters *= 2) {
    for (int i = 0; i < stages[stage]; ++i) {
      const Block block{filters, stage > 0 && i == 0 ? 2 : 1, size >= 50, i == 0};
      x = v2 ? BlockV2(b, x, block) : BlockV1(b, x, block);
    }
  }
  return b.SpatialMean(v2 ? NormRelu(b, x) : x);
}

}  // namespace

Output OfficialResnet(ModelBuilder& b, Output x, int num_classes, int size, ResnetVersion version) {
  return b.UsingLibrary(LayerLibrary::kTfLayers, [&] {
    return b.Within("resnet_model", [&] {
      const Output top = Network(b, x, size, version == ResnetVersion::kV2);
      return b.Affine(top, num_classes,
                      {.activation = LayerActivation::kLinear, .kernel_initializer = initializers::GlorotUniform()});
    });
  });
}

Schedule OfficialResnetSchedule(const Model& model, const RateContext& context) {
  const double rate = model.learning_rate / model.default_batch_size * context.images_per_step;
  const double steps_per_epoch = static_cast<double>(context.train_images) / context.images_per_step;
  schedules::Piecewise tenths;
  for (int epoch : {30, 60, 80, 90}) tenths.boundaries.push_back(static_cast<int64_t>(steps_per_epoch * epoch));
  for (double factor : {1.0, 0.1, 0.01, 0.001, 0.0001}) tenths.rates.push_back(rate * factor);
  return {.rule = tenths};
}

}  // namespace muster::zoo
