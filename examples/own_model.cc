// A network of one's own in the zoo: registered under a name, found by that name like any other, and trained on the
// device it is put on. Here a small residual network on images that the program makes itself: stripes that lie or
// stand.

#include <cstdio>
#include <random>

#include "muster/models.h"
#include "muster/ops.h"
#include "muster/session.h"

using namespace muster;  // NOLINT: an example should be short

namespace {

constexpr int64_t kBatch = 16, kSize = 32;

// What is between the images and the last dense layer, which the zoo adds. The builder knows the data format, and
// whether the network is being trained or only used.
Output StripeNet(ModelBuilder& net, Output x) {
  net.UseBatchNorm({.decay = 0.9, .scale = true});
  x = net.Conv(x, 8, 3, 3, {.strides = {2, 2}});
  const Output shortcut = x;
  x = net.SeparableConv(x, 8, 3, 3);
  x = net.Conv(x, 8, 3, 3, {.activation = LayerActivation::kLinear});
  return net.SpatialMean(net.Relu(net.Add(x, shortcut)));
}

void MakeBatch(std::mt19937& random, Tensor* images, Tensor* labels) {
  std::normal_distribution<float> noise(0, 0.5F);
  size_t at = 0;
  for (size_t n = 0; n < kBatch; ++n) {
    const int label = static_cast<int>(random() % 2);
    labels->data<int32_t>()[n] = label;
    for (int64_t row = 0; row < kSize; ++row)
      for (int64_t column = 0; column < kSize; ++column)
        for (int channel = 0; channel < 3; ++channel)
          images->data<float>()[at++] = ((label == 0 ? row : column) % 4 < 2 ? 1.F : -1.F) + noise(random);
  }
}

}  // namespace

int main() {
  Model mine{.name = "stripenet", .dataset = "cifar10", .image_size = kSize, .default_batch_size = kBatch};
  mine.layers = StripeNet;
  RegisterModel(mine);

  Graph graph;
  Scope root(&graph);
  const Model& model = FindModel("stripenet", "cifar10");
  Output images = ops::Placeholder(root, DType::kFloat32, Shape{kBatch, model.image_size, model.image_size, 3});
  Output labels = ops::Placeholder(root, DType::kInt32, Shape{kBatch});
  Tower training = BuildTrainingTower(root, model, images, labels, {.weight_decay = {.rate = 1e-4}});
  Tower evaluation = BuildEvaluationTower(root.WithName("evaluation"), model, images, labels, {});
  NodeId step = BuildTrainStep(root, training, *MomentumOptimizer(0.05, 0.9));

  Session session(&graph);
  session.Initialize();
  std::mt19937 random(1);
  Tensor pixels(DType::kFloat32, graph.shape(images)), stripes(DType::kInt32, Shape{kBatch});
  for (int i = 0; i < 60; ++i) {
    MakeBatch(random, &pixels, &stripes);
    const auto fetched = session.Run({{images, pixels}, {labels, stripes}}, {training.total_loss}, {step});
    if (i % 20 == 0) std::printf("step %2d  loss %.4f\n", i, fetched[0].scalar<float>());
  }
  MakeBatch(random, &pixels, &stripes);
  const float right = session.Run({{images, pixels}, {labels, stripes}}, {evaluation.top_1_correct})[0].scalar<float>();
  std::printf("accuracy on a new batch: %.3f\n", right / kBatch);
  return right / kBatch > 0.9F ? 0 : 1;
}
