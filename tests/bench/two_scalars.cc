#include "tests/bench/two_scalars.h"

#include "bench/checks.h"
#include "bench/learning_rate.h"
#include "bench/strategy.h"
#include "bench/train_graph.h"
#include "muster/gradients.h"
#include "muster/ops.h"
#include "muster/session.h"

namespace muster::bench {
namespace {

constexpr int kBatchesOfData = 4;  // then the images begin anew

// A tower that the user brings: its images are fed.
TowerBuilder TwoScalarTower(int64_t batch, std::vector<Output>* images) {
  return [batch, images](const Scope& scope, int, const TowerOptions& options) {
    const VariableGetter& get = options.layers.get_variable;
    const Output x = ops::Placeholder(scope.Named("images"), DType::kFloat32, {batch});
    images->push_back(x);
    const Variable a = get(scope, {"A", DType::kFloat32, {}, initializers::Constant(1)});
    const Variable b = get(scope, {"B", DType::kFloat32, {}, initializers::Constant(2)});
    Tower tower;
    tower.variables = {a, b};
    tower.base_loss = ops::Mul(scope, ops::Mul(scope, ops::Mean(scope, x), a), b);
    tower.total_loss = AddWeightDecay(scope, tower.base_loss, tower.variables, options.weight_decay);
    tower.gradients = Gradients(scope, tower.total_loss, {a, b});
    return tower;
  };
}

// Feeds of step k: the rate, then the images of each tower.
std::vector<Tensor> FeedsOf(int64_t k, float rate, int64_t towers, int64_t batch) {
  std::vector<Tensor> feeds{Tensor::Scalar<float>(rate)};
  for (int64_t t = 0; t < towers; ++t) {
    Tensor images(DType::kFloat32, {batch});
    for (int64_t i = 0; i < batch; ++i)
      images.data<float>()[static_cast<size_t>(i)] =
          static_cast<float>((k % kBatchesOfData * batch + i) * towers + t - 1);
    feeds.push_back(images);
  }
  return feeds;
}

}  // namespace

std::vector<double> TrainTwoScalars(const TwoScalarsRun& run) {
  CheckParams(run.params);
  const Derived derived = Derive(run.params);
  const int64_t batch = derived.batch_size_per_device, towers = derived.num_devices;
  std::vector<Output> feeds;
  const auto built = BuildTrainGraphOf(run.params, run.own, derived, TwoScalarTower(batch, &feeds));
  // In the recorded runs the data set counts as one image, so that decays come early.
  const Schedule schedule =
      MakeSchedule(run.params, derived.model, 1, derived.batch_size, SummedTowers(run.params, run.own));
  SessionOptions options = DevicesOf(run.params, run.own, derived);
  options.intra_op_threads = 1;
  options.backend = run.backend;
  Session session(built->graph.get(), options);
  session.Initialize();
  int64_t batches = 0;
  if (!built->prefill.empty()) {
    Feeds values;
    const auto tensors = FeedsOf(batches++, 0, towers, batch);
    for (size_t t = 0; t < feeds.size(); ++t) values.emplace_back(feeds[t], tensors[t + 1]);
    session.Run(values, {}, built->prefill);
  }
  std::vector<Output> all_feeds{built->learning_rate};
  all_feeds.insert(all_feeds.end(), feeds.begin(), feeds.end());
  const auto runner = session.Prepare(all_feeds, built->fetches, built->targets);
  std::vector<double> losses;
  for (int step = 0; step < run.steps; ++step) {
    const auto rate = static_cast<float>(RateAt(schedule, step));
    losses.push_back(runner->Run(FeedsOf(batches++, rate, towers, batch))[0].scalar<float>());
  }
  return losses;
}

}  // namespace muster::bench
