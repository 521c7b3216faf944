#include <cstring>

#include <gtest/gtest.h>

#include "muster/models.h"
#include "muster/ops.h"
#include "muster/optimizer.h"
#include "muster/session.h"

namespace muster {
namespace {

struct Trained {
  std::vector<float> losses;
  std::vector<Tensor> weights;
};

// A few steps of a CIFAR network on random images, labels and dropout-free layers, all drawn from the graph's seed.
Trained Train(int threads) {
  Graph graph;
  graph.set_seed(42);
  Scope root(&graph);
  Output images = ops::RandomStandardNormal(root, DType::kFloat32, Shape{8, 32, 32, 3});
  Output labels = ops::RandomUniformInt(root, DType::kInt32, Shape{8}, 0, 10);
  const Tower tower = BuildTrainingTower(root, FindModel("resnet20", "cifar10"), images, labels, {});
  const NodeId step = BuildTrainStep(root, tower, *MomentumOptimizer(0.05, 0.9));
  Session session(&graph, {.intra_op_threads = threads});
  auto runner = session.Prepare({}, {tower.total_loss}, {step});
  session.Initialize();
  Trained result;
  for (int n = 0; n < 4; ++n) result.losses.push_back(runner->Run()[0].scalar<float>());
  for (const Variable& v : tower.variables) result.weights.push_back(session.ReadVariable(v));
  return result;
}

bool BitEqual(const Tensor& a, const Tensor& b) {
  return a.byte_size() == b.byte_size() && std::memcmp(a.raw(), b.raw(), a.byte_size()) == 0;
}

}  // namespace

TEST(Determinism, TwoRunsWithOneSeedGiveTheSameBits) {
  const Trained a = Train(2), b = Train(2);
  EXPECT_EQ(a.losses, b.losses);
  for (size_t i = 0; i < a.weights.size(); ++i) EXPECT_TRUE(BitEqual(a.weights[i], b.weights[i])) << i;
}

TEST(Determinism, RandomNumbersDoNotDependOnThreads) {
  auto draw = [](int threads) {
    Graph graph;
    Scope root(&graph);
    const Shape shape{100003};
    std::vector<Output> values{
        ops::RandomUniform(root, DType::kFloat32, shape), ops::RandomStandardNormal(root, DType::kFloat32, shape),
        ops::TruncatedNormal(root, DType::kFloat32, shape), ops::RandomUniformInt(root, DType::kInt32, shape, 0, 1000)};
    Session session(&graph, {.intra_op_threads = threads});
    session.set_step(7);
    return session.Run({}, values);
  };
  const auto one = draw(1), two = draw(2);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(BitEqual(one[i], two[i])) << i;
}

}  // namespace muster
