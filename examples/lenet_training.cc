// Trains a LeNet on images that it makes itself: a bright square in one of four corners, and the corner is the label.

#include <cstdio>
#include <random>

#include "muster/layers.h"
#include "muster/losses.h"
#include "muster/optimizer.h"
#include "muster/ops.h"
#include "muster/schedule.h"
#include "muster/session.h"

using namespace muster;  // NOLINT: an example should be short

namespace {

constexpr int64_t kBatch = 32, kSize = 16, kClasses = 4;

// conv 5x5, pool, conv 5x5, pool, dense, dense: the builder names the layers and makes their variables.
Output LeNet(const Scope& scope, Output images, bool training) {
  BuilderOptions options;
  options.phase_train = training;  // the second tower finds the variables of the first by their names
  ModelBuilder net(scope, options);
  Output x = net.Conv(images, 8, 5, 5);
  x = net.MaxPool(x, 2, 2);
  x = net.Conv(x, 16, 5, 5);
  x = net.MaxPool(x, 2, 2);
  x = net.Affine(net.Flatten(x), 32);
  return net.Affine(x, kClasses, {.activation = LayerActivation::kLinear});
}

void MakeBatch(std::mt19937& random, Tensor* images, Tensor* labels) {
  std::normal_distribution<float> noise(0, 0.3F);
  for (float& pixel : images->data<float>()) pixel = noise(random);
  for (int64_t n = 0; n < kBatch; ++n) {
    const int corner = static_cast<int>(random() % kClasses);
    labels->data<int32_t>()[static_cast<size_t>(n)] = corner;
    const int64_t top = corner / 2 * (kSize - 5), left = corner % 2 * (kSize - 5);
    for (int64_t row = top; row < top + 5; ++row)
      for (int64_t column = left; column < left + 5; ++column)
        images->data<float>()[static_cast<size_t>((n * kSize + row) * kSize + column)] += 1;
  }
}

}  // namespace

int main() {
  Graph graph;
  Scope root(&graph);
  Output images = ops::Placeholder(root, DType::kFloat32, Shape{kBatch, kSize, kSize, 1});
  Output labels = ops::Placeholder(root, DType::kInt32, Shape{kBatch});
  Output loss = SoftmaxCrossEntropyMean(root, LeNet(root, images, true), labels);

  // A staircase: the rate falls to a third every 50 steps.
  Variable global_step = GlobalStep(root);
  Output rate = BuildRate(root, Schedule{schedules::Exponential{0.05, 50, 1.0 / 3, true}}, global_step);
  NodeId train = MomentumOptimizer(rate, 0.9)->Minimize(root, loss, global_step);
  Output correct = TopKCorrect(root, LeNet(root, images, false), labels, 1);

  Session session(&graph);
  session.Initialize();
  std::mt19937 random(1);
  Tensor pixels(DType::kFloat32, Shape{kBatch, kSize, kSize, 1}), corners(DType::kInt32, Shape{kBatch});
  for (int step = 0; step < 100; ++step) {
    MakeBatch(random, &pixels, &corners);
    const auto fetched = session.Run({{images, pixels}, {labels, corners}}, {loss, rate}, {train});
    if (step % 20 == 0)
      std::printf("step %3d  loss %.4f  rate %.4f\n", step, fetched[0].scalar<float>(), fetched[1].scalar<float>());
  }
  MakeBatch(random, &pixels, &corners);
  const float right = session.Run({{images, pixels}, {labels, corners}}, {correct})[0].scalar<float>();
  std::printf("accuracy on a new batch: %.3f\n", right / kBatch);
  return right / kBatch > 0.9F ? 0 : 1;
}
