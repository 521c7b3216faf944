// AlexNet (Krizhevsky 2014, one tower, no LRN), its CIFAR-10 form from TensorFlow's tutorial, and OverFeat (Sermanet
// 2014).

#include "models/zoo.h"

namespace muster::zoo {

Output Alexnet(ModelBuilder& b, Output x) {
  x = b.Conv(x, 64, 11, 11, {.strides = {4, 4}, .padding = ConvPadding::kValid});
  x = b.MaxPool(x, 3, 3);
  x = b.Conv(x, 192, 5, 5);
  x = b.MaxPool(x, 3, 3);
  x = b.Conv(x, 384, 3, 3);
  x = b.Conv(x, 384, 3, 3);
  x = b.Conv(x, 256, 3, 3);
  x = b.MaxPool(x, 3, 3);
  x = b.Dropout(b.Affine(b.Flatten(x), 4096));
  return b.Dropout(b.Affine(x, 4096));
}

Output Overfeat(ModelBuilder& b, Output x) {
  x = b.Conv(x, 96, 11, 11, {.strides = {4, 4}, .padding = ConvPadding::kValid});
  x = b.MaxPool(x, 2, 2);
  x = b.Conv(x, 256, 5, 5, {.padding = ConvPadding::kValid});
  x = b.MaxPool(x, 2, 2);
  x = b.Conv(x, 512, 3, 3);
  x = b.Conv(x, 1024, 3, 3);
  x = b.Conv(x, 1024, 3, 3);
  x = b.MaxPool(x, 2, 2);
  x = b.Dropout(b.Affine(b.Flatten(x), 3072));
  return b.Dropout(b.Affine(x, 4096));
}

Output AlexnetCifar(ModelBuilder& b, Output x) {
  const LRNAttrs lrn{.depth_radius = 4, .bias = 1, .alpha = 0.001 / 9, .beta = 0.75};
  const PoolOptions same{.padding = Padding::kSame};
  x = b.Conv(x, 64, 5, 5, {.stddev = 0.05});
  x = b.Lrn(b.MaxPool(x, 3, 3, same), lrn);
  x = b.Conv(x, 64, 5, 5, {.bias = 0.1, .stddev = 0.05});
  x = b.MaxPool(b.Lrn(x, lrn), 3, 3, same);
  x = b.Affine(b.Flatten(x), 384, {.bias = 0.1, .stddev = 0.04});
  return b.Affine(x, 192, {.bias = 0.1, .stddev = 0.04});
}

Schedule AlexnetCifarSchedule(const Model& model, const RateContext& context) {
  const auto decay_steps =
      static_cast<int64_t>(100.0 * static_cast<double>(context.train_images) / context.images_per_step);
  return {schedules::Exponential{model.learning_rate, decay_steps, 0.1, true}};
}

}  // namespace muster::zoo
