// MobileNet v2 (Sandler et al. 2018) with TF-slim's names. It ends in a classifier of 1001 of its own, and the zoo's
// last dense layer comes on top, as in tf_cnn_benchmarks.

#include <fmt/format.h>

#include "models/zoo.h"

namespace muster::zoo {
namespace {

struct Stage {
  int64_t expansion, filters, stride;  // the stride of its first block
  int blocks;
};
constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 2, 3}, {6, 64, 2, 4},
                             {6, 96, 1, 3}, {6, 160, 2, 3}, {6, 320, 1, 1}};
constexpr int64_t kOwnClasses = 1001;

ConvOptions Layer(std::string name, LayerActivation activation = LayerActivation::kRelu6, int64_t stride = 1) {
  ConvOptions options;
  options.strides = {stride, stride};
  options.activation = activation;
  options.stddev = 0.09;
  options.name = std::move(name);
  return options;
}

// An inverted residual: widen, filter each channel, narrow; the narrow ends are added where they fit.
Output Block(ModelBuilder& b, Output x, int64_t expansion, int64_t filters, int64_t stride) {
  const int64_t inputs = b.channels(x);
  Output y = expansion == 1 ? x : b.Conv(x, inputs * expansion, 1, 1, Layer("expand"));
  y = b.DepthwiseConv(y, 3, 3, Layer("depthwise", LayerActivation::kRelu6, stride));
  y = b.Conv(y, filters, 1, 1, Layer("project", LayerActivation::kLinear));
  return stride == 1 && inputs == filters ? b.Add(y, x) : y;
}

Output Features(ModelBuilder& b, Output x) {
  x = b.Conv(x, 32, 3, 3, Layer("Conv", LayerActivation::kRelu6, 2));
  int number = 0;
  for (const Stage& stage : kStages) {
    for (int i = 0; i < stage.blocks; ++i, ++number) {
      const std::string name = number == 0 ? "expanded_conv" : fmt::format("expanded_conv_{}", number);
      x = b.Within(name, [&] { return Block(b, x, stage.expansion, stage.filters, i == 0 ? stage.stride : 1); });
    }
  }
  return b.Conv(x, 1280, 1, 1, Layer("Conv_1"));
}

Output Logits(ModelBuilder& b, Output x) {
  const int first = b.options().data_format == DataFormat::kNHWC ? 1 : 2;
  const Shape& shape = b.scope().shape(x);
  x = b.Dropout(b.AvgPool(x, shape[first], shape[first + 1], {.strides = {1, 1}}), 0.8);
  ConvOptions classifier = Layer("Conv2d_1c_1x1", LayerActivation::kLinear);
  classifier.batch_norm = false;
  return b.Flatten(b.Conv(x, kOwnClasses, 1, 1, classifier));
}

}  // namespace

Output Mobilenet(ModelBuilder& b, Output x) {
  return b.UsingLibrary(LayerLibrary::kSlim, [&] {
    b.UseBatchNorm({.decay = 0.997, .epsilon = 0.001, .scale = true});
    return b.Within("MobilenetV2", [&] {
      const Output features = Features(b, x);
      return b.Within("Logits", [&] { return Logits(b, features); });
    });
  });
}

}  // namespace muster::zoo
