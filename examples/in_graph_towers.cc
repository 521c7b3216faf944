// Training on several devices the way people wrote it for TensorFlow 1: one graph, a tower for each device, variables
// shared on the CPU, gradients averaged by hand and applied once, by Adam with a rate that decays in a staircase. The
// batch is split among the towers: batch = per-tower batch * towers.
//
//   example_in_graph_towers [towers]        towers on CPU devices (2)
//   example_in_graph_towers gpu [towers]    towers on simulated GPUs

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "muster/layers.h"
#include "muster/losses.h"
#include "muster/ops.h"
#include "muster/optimizer.h"
#include "muster/schedule.h"
#include "muster/session.h"
#include "muster/strategy.h"

using namespace muster;  // NOLINT: an example should be short

namespace {

constexpr int64_t kBatchPerTower = 16, kSize = 12, kClasses = 4;
constexpr int kSteps = 120;

// A small network; its variables live on the CPU whatever the tower's device, and all towers share them.
Output Network(const Scope& scope, Output images, bool training) {
  BuilderOptions options;
  options.phase_train = training;
  options.get_variable = [](const Scope& inner, const VariableSpec& spec) {
    return GetVariable(inner.WithDevice("/cpu:0"), spec, Reuse::kAuto);
  };
  ModelBuilder net(scope, options);
  Output x = net.MaxPool(net.Conv(images, 8, 5, 5), 2, 2);
  x = net.Affine(net.Flatten(x), 32);
  return net.Affine(x, kClasses, {.activation = LayerActivation::kLinear});
}

}  // namespace

// muster::AverageGradients does the same; written out here.
namespace by_hand {

// For each variable the mean of its gradients over the towers. towers[t][v] is tower t's gradient of variable v; all
// towers list the same variables in the same order.
std::vector<GradientAndVariable> AverageGradients(const Scope& scope,
                                                  const std::vector<std::vector<GradientAndVariable>>& towers) {
  std::vector<GradientAndVariable> averages;
  for (size_t v = 0; v < towers[0].size(); ++v) {
    std::vector<Output> gradients;
    for (const auto& tower : towers) gradients.push_back(tower[v].gradient);
    averages.push_back({ops::Mean(scope, ops::Pack(scope, gradients), {0}), towers[0][v].variable});
  }
  return averages;
}

}  // namespace by_hand

namespace {

// A bright square in one of four corners; the corner is the label.
void MakeBatch(std::mt19937& random, Tensor* images, Tensor* labels) {
  std::normal_distribution<float> noise(0, 0.8F);
  for (float& pixel : images->data<float>()) pixel = noise(random);
  for (size_t n = 0; n < labels->data<int32_t>().size(); ++n) {
    const auto corner = static_cast<int32_t>(random() % kClasses);
    labels->data<int32_t>()[n] = corner;
    const int64_t top = corner / 2 * (kSize - 4), left = corner % 2 * (kSize - 4);
    for (int64_t row = top; row < top + 4; ++row)
      for (int64_t column = left; column < left + 4; ++column)
        images->data<float>()[static_cast<size_t>((static_cast<int64_t>(n) * kSize + row) * kSize + column)] += 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool on_gpus = argc > 1 && std::strcmp(argv[1], "gpu") == 0;
  const int num_towers = argc > 1 + on_gpus ? std::atoi(argv[1 + on_gpus]) : 2;
  if (num_towers < 1)
    return std::fprintf(stderr, "usage: example_in_graph_towers [gpu] [towers]: at least one tower\n"), 2;
  const int64_t batch = kBatchPerTower * num_towers;

  Graph graph;
  Scope root(&graph), cpu = root.WithDevice("/cpu:0");
  Output images = ops::Placeholder(cpu.Named("images"), DType::kFloat32, Shape{batch, kSize, kSize, 1});
  Output labels = ops::Placeholder(cpu.Named("labels"), DType::kInt32, Shape{batch});
  const std::vector<Output> image_shares = SplitBatch(cpu, images, num_towers),
                            label_shares = SplitBatch(cpu, labels, num_towers);

  // The rate falls to a third every 40 steps.
  Variable global_step = GlobalStep(cpu);
  Output rate = BuildRate(cpu, Schedule{schedules::Exponential{0.01, 40, 1.0 / 3, true}}, global_step);
  auto optimizer = AdamOptimizer(rate);

  std::vector<std::vector<GradientAndVariable>> towers;
  std::vector<Output> losses, correct;
  for (int t = 0; t < num_towers; ++t) {
    const auto share = static_cast<size_t>(t);
    Scope tower = root.WithName("tower").WithDevice((on_gpus ? "/gpu:" : "/cpu:") + std::to_string(t));
    losses.push_back(SoftmaxCrossEntropyMean(tower, Network(tower, image_shares[share], true), label_shares[share]));
    towers.push_back(optimizer->ComputeGradients(tower, losses.back()));
    correct.push_back(TopKCorrect(tower, Network(tower, image_shares[share], false), label_shares[share], 1));
  }
  NodeId train = optimizer->ApplyGradients(cpu, by_hand::AverageGradients(cpu, towers), global_step);
  Output loss = ops::Mean(cpu.Named("loss"), ops::Pack(cpu, losses)), right = ops::AddN(cpu.Named("right"), correct);

  SessionOptions options;
  options.num_cpu_devices = on_gpus ? 1 : num_towers;
  options.gpu.simulated_gpus = on_gpus ? num_towers : 0;
  Session session(&graph, options);
  session.Initialize();
  const Graph placed = session.PlacedGraph();
  for (const VariableInfo& v : graph.variables())
    if (v.trainable)
      std::printf("variable %-28s on %s\n", v.name.c_str(), placed.node(v.ref.node).device.ToString().c_str());
  for (int t = 0; t < num_towers; ++t)
    std::printf("tower %d: %lld of %lld images on %s\n", t, static_cast<long long>(kBatchPerTower),
                static_cast<long long>(batch),
                placed.node(losses[static_cast<size_t>(t)].node).device.ToString().c_str());

  auto step_runner = session.Prepare({images, labels}, {loss, rate}, {train});
  int64_t bytes = 0;
  const PlanSummary plan = step_runner->Summary();
  for (const auto& transfer : plan.transfers) bytes += transfer.bytes;
  std::printf("each step %zu transfers of %lld bytes\n", plan.transfers.size(), static_cast<long long>(bytes));

  std::mt19937 random(1);
  Tensor x(DType::kFloat32, Shape{batch, kSize, kSize, 1}), y(DType::kInt32, Shape{batch});
  for (int step = 0; step < kSteps; ++step) {
    MakeBatch(random, &x, &y);
    const auto fetched = step_runner->Run({x, y});
    if (step % 20 == 0)
      std::printf("step %3d  loss %.4f  rate %.5f\n", step, static_cast<double>(fetched[0].scalar<float>()),
                  static_cast<double>(fetched[1].scalar<float>()));
  }
  MakeBatch(random, &x, &y);
  const float accuracy =
      session.Run({{images, x}, {labels, y}}, {right})[0].scalar<float>() / static_cast<float>(batch);
  std::printf("accuracy on a new batch: %.3f\n", static_cast<double>(accuracy));
  return accuracy > 0.9F ? 0 : 1;
}
