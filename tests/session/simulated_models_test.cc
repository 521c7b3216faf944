// Whole models on a CPU and two simulated GPUs give the bits of CPU devices that are placed the same way.

#include <gtest/gtest.h>

#include "muster/models.h"
#include "muster/ops.h"
#include "muster/optimizer.h"
#include "muster/session.h"

namespace muster {
namespace {

// Two towers with variables of their own, whose averaged gradients update both; images and learning rate come from
// "home".
std::vector<float> Train(const char* name, const char* dataset, const std::vector<std::string>& devices,
                         const SessionOptions& options) {
  Graph graph;
  const Scope root(&graph);
  const Scope home = root.WithDevice(devices[0]);
  const Model& model = FindModel(name, dataset);
  std::vector<Tower> towers;
  for (size_t t = 0; t < 2; ++t) {
    const Output images = ops::RandomUniform(home, DType::kFloat32, Shape{2, model.image_size, model.image_size, 3});
    const Output labels = ops::RandomUniformInt(home, DType::kInt32, Shape{2}, 0, 10);
    const Scope scope = root.WithVariableScope("v" + std::to_string(t)).WithDevice(devices[t + 1]);
    TowerOptions tower_options;
    tower_options.weight_decay.rate = 1e-4;
    towers.push_back(BuildTrainingTower(scope, model, images, labels, tower_options));
  }
  std::vector<GradientAndVariable> pairs;
  std::vector<NodeId> updates;
  for (size_t g = 0; g < towers[0].gradients.size(); ++g) {
    const Scope reducer = root.WithDevice(devices[1 + g % 2]);
    const Output sum = ops::AddN(reducer, {towers[0].gradients[g], towers[1].gradients[g]});
    const Output mean = ops::Mul(reducer, sum, ops::Scalar<float>(reducer, 0.5F));
    for (const Tower& tower : towers) pairs.push_back({mean, tower.variables[g]});
  }
  const auto optimizer = MomentumOptimizer(0.01, 0.9);
  updates.push_back(optimizer->ApplyGradients(home, pairs));
  for (const Tower& tower : towers) updates.insert(updates.end(), tower.update_ops.begin(), tower.update_ops.end());
  const NodeId train = ops::Group(home, updates);

  Session session(&graph, options);
  auto runner = session.Prepare({}, {towers[0].total_loss, towers[1].total_loss}, {train});
  session.Initialize();
  std::vector<float> values;
  for (int step = 0; step < 2; ++step)
    for (const Tensor& loss : runner->Run()) values.push_back(loss.scalar<float>());
  for (const Tower& tower : towers)
    for (const Variable& v : tower.variables) {
      const Tensor weights = session.ReadVariable(v);
      values.insert(values.end(), weights.data<float>().begin(), weights.data<float>().end());
    }
  return values;
}

SessionOptions Cpus() { return {.num_cpu_devices = 3, .intra_op_threads = 1}; }

SessionOptions Gpus(uint64_t seed) {
  SessionOptions options;
  options.intra_op_threads = 1;
  options.gpu = {.simulated_gpus = 2, .delay_seed = seed, .check_hazards = true};
  return options;
}

}  // namespace

TEST(SimulatedModels, LenetGivesTheBitsOfCpuDevices) {
  const std::vector<float> expected = Train("lenet", "imagenet", {"/cpu:0", "/cpu:1", "/cpu:2"}, Cpus());
  for (uint64_t seed : {0, 1, 2})
    EXPECT_EQ(Train("lenet", "imagenet", {"/cpu:0", "/gpu:0", "/gpu:1"}, Gpus(seed)), expected);
}

TEST(SimulatedModels, ResidualNetworksGiveTheBitsOfCpuDevices) {
  const std::vector<float> expected = Train("resnet20", "cifar10", {"/cpu:0", "/cpu:1", "/cpu:2"}, Cpus());
  EXPECT_EQ(Train("resnet20", "cifar10", {"/cpu:0", "/gpu:0", "/gpu:1"}, Gpus(7)), expected);
}

}  // namespace muster
