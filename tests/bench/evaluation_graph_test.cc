// Evaluation beside training in one graph: section 7.5 of the inventory, the peer's own test with a stub of a model.
// Training images are black (-1), validation images white (1); the training loss is their mean plus a variable that
// begins with 199, so 198, and what evaluation takes for the count of right answers comes to an "accuracy" of 2.
#include <gtest/gtest.h>

#include <set>

#include "bench/checks.h"
#include "bench/strategy.h"
#include "bench/train_graph.h"
#include "muster/gradients.h"
#include "muster/ops.h"
#include "muster/session.h"

namespace muster::bench {
namespace {

Tower Stub(const Scope& scope, const TowerOptions& options, Output images, int64_t batch, bool trains) {
  const Variable bias = options.layers.get_variable(scope, {"bias", DType::kFloat32, {}, initializers::Constant(199)});
  const Output mean = ops::Add(scope, ops::Mean(scope, images), bias);
  Tower tower;
  tower.variables = {bias};
  tower.base_loss = tower.total_loss = mean;
  if (trains) tower.gradients = Gradients(scope, tower.total_loss, {bias});
  tower.top_1_correct = tower.top_5_correct = ops::Mul(scope, ops::Sub(scope, mean, ops::Scalar<float>(scope, 198)),
                                                       ops::Scalar<float>(scope, static_cast<float>(batch)));
  return tower;
}

TowerBuilder StubTower(int64_t batch, bool trains, std::vector<Output>* fed) {
  return [batch, trains, fed](const Scope& scope, int, const TowerOptions& options) {
    fed->push_back(ops::Placeholder(scope.Named("images"), DType::kFloat32, {batch}));
    return Stub(scope, options, fed->back(), batch, trains);
  };
}

Tensor Level(int64_t batch, float level) {
  Tensor images(DType::kFloat32, {batch});
  for (float& value : images.data<float>()) value = level;
  return images;
}

std::set<std::string> VariableNames(const Graph& graph) {
  std::set<std::string> names;
  for (const VariableInfo& variable : graph.variables()) names.insert(variable.name);
  return names;
}

class EvaluationGraph : public ::testing::TestWithParam<const char*> {};

TEST_P(EvaluationGraph, HasImagesOfItsOwnAndTheWeightsOfTheTraining) {
  BenchParams params{.model = "trivial", .batch_size = 3, .device = "cpu"};
  params.eval_batch_size = 5;
  params.num_gpus = 2;
  params.variable_update = GetParam();
  params.eval_during_training_every_n_steps = 1;
  params.weight_decay = 0;
  CheckParams(params);
  const OwnParams own;
  const Derived derived = Derive(params);
  std::vector<Output> train_fed, eval_fed;
  const auto built =
      BuildTrainGraphOf(params, own, derived, StubTower(3, true, &train_fed), StubTower(5, false, &eval_fed));
  std::vector<Output> alone_fed;
  const auto alone = BuildTrainGraphOf(params, own, derived, StubTower(3, true, &alone_fed));
  EXPECT_EQ(VariableNames(*built->graph), VariableNames(*alone->graph)) << "an evaluation brings no variables";

  Session session(built->graph.get(), DevicesOf(params, own, derived));
  session.Initialize();
  std::vector<Output> feeds{built->learning_rate};
  feeds.insert(feeds.end(), train_fed.begin(), train_fed.end());
  const auto train = session.Prepare(feeds, built->fetches, built->targets),
             evaluate = session.Prepare(eval_fed, built->eval_fetches);
  const auto loss = [&](float rate) {
    return train->Run({Tensor::Scalar<float>(rate), Level(3, -1), Level(3, -1)})[0].scalar<float>();
  };
  const auto accuracy = [&] {
    return evaluate->Run({Level(5, 1), Level(5, 1)})[0].scalar<float>() / static_cast<float>(derived.eval_batch_size);
  };
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(loss(0), 198);
    EXPECT_EQ(accuracy(), 2);
  }
  EXPECT_EQ(loss(0.5f), 198) << "before the update";
  EXPECT_EQ(accuracy(), 1.5f) << "after it";
  EXPECT_EQ(loss(0), 197.5f);
}

INSTANTIATE_TEST_SUITE_P(Modes, EvaluationGraph, ::testing::Values("parameter_server", "replicated"));

}  // namespace
}  // namespace muster::bench
