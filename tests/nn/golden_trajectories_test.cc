// Twenty training steps of the three small nets in golden/trajectories, in float64 and in float32.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "muster/error.h"
#include "muster/losses.h"
#include "muster/ops/array.h"
#include "muster/ops/math.h"
#include "muster/optimizer.h"
#include "muster/session.h"
#include "tests/nn/trajectory_nets.h"
#include "tests/testing/golden.h"

namespace muster {
namespace {

using nlohmann::json;
using testing::TrajectoryVariables;

std::unique_ptr<Optimizer> OptimizerOf(const json& run) {
  const std::string name = run["optimizer"];
  const double rate = run["learning_rate"];
  if (name == "sgd") return GradientDescentOptimizer(rate);
  if (name == "momentum") return MomentumOptimizer(rate, 0.9);
  if (name == "nesterov") return MomentumOptimizer(rate, 0.9, true);
  if (name == "adam") return AdamOptimizer(rate);
  if (name == "rmsprop") return RMSPropOptimizer(rate, {.decay = 0.9, .momentum = 0.9, .epsilon = 1.0});
  throw Unimplemented("no optimizer named " + name + " for golden trajectories");
}

// A float32 or integer array as T.
template <typename T>
Tensor As(const Tensor& tensor) {
  const auto values = tensor.data<float>();
  const std::vector<T> converted(values.begin(), values.end());
  return Tensor::Of<T>(tensor.shape(), std::span<const T>(converted));
}

// Number k of a stack of tensors.
template <typename T>
Tensor Item(const Tensor& stack, int64_t k) {
  const Shape shape = stack.shape().Erased(0);
  return Tensor::Of<T>(
      shape, std::span<const T>(stack.data<T>())
                 .subspan(static_cast<size_t>(k * shape.num_elements()), static_cast<size_t>(shape.num_elements())));
}

// A run's graph: loss, gradients and update of all towers on one device, and evaluation beside it.
struct RunGraph {
  RunGraph(const json& run, DType dtype, const Shape& images_shape, DataFormat data_format)
      : format(data_format),
        variables(scope, dtype, run["variables"]),
        images(ops::Placeholder(scope, dtype, images_shape)),
        labels(ops::Placeholder(scope, DType::kInt32, {images_shape[0]})) {
    const std::string name = run["name"];
    net = name.substr(0, name.find('_'));
    towers = run["towers"].get<int>();
    std::vector<Output> losses;
    std::vector<std::vector<Output>> gradients_of(variables.trainable().size());
    const auto image_parts = ops::Split(scope, images, 0, towers), label_parts = ops::Split(scope, labels, 0, towers);
    for (int t = 0; t < towers; ++t) {
      const size_t at = static_cast<size_t>(t);
      losses.push_back(TowerLoss(run, image_parts[at], label_parts[at], t == 0));
      const auto pairs = OptimizerOf(run)->ComputeGradients(scope, losses.back(), variables.trainable());
      for (size_t i = 0; i < pairs.size(); ++i) gradients_of[i].push_back(pairs[i].gradient);
    }
    loss = Combine(losses, true);
    std::vector<GradientAndVariable> combined;
    for (size_t i = 0; i < gradients_of.size(); ++i) {
      gradients.push_back(Combine(gradients_of[i], towers == 1 || run["combine"] == "mean"));
      combined.push_back({gradients.back(), variables.trainable()[i]});
    }
    optimizer = OptimizerOf(run);
    updates.push_back(optimizer->ApplyGradients(scope, combined));
    eval_logits = testing::TrajectoryLogits(net, scope, variables, images, false, nullptr, format);
  }

  Output TowerLoss(const json& run, Output x, Output y, bool first) {
    const Output logits = testing::TrajectoryLogits(net, scope, variables, x, true, first ? &updates : nullptr, format);
    const WeightDecay decay{.rate = run["weight_decay"].get<double>()};
    return AddWeightDecay(scope, SoftmaxCrossEntropyMean(scope, logits, y), variables.decayed(), decay);
  }

  Output Combine(const std::vector<Output>& parts, bool mean) const {
    const Output sum = ops::AddN(scope, parts);
    if (!mean || parts.size() == 1) return sum;
    return ops::Mul(scope, sum, ops::ScalarLike(scope, 1.0 / static_cast<double>(parts.size()), scope.dtype(sum)));
  }

  Graph graph;
  Scope scope{&graph};
  DataFormat format;
  TrajectoryVariables variables;
  Output images, labels, loss, eval_logits;
  std::vector<Output> gradients;
  std::vector<NodeId> updates;
  std::unique_ptr<Optimizer> optimizer;
  std::string net;
  int towers = 1;
};

struct Tolerances {
  double first_loss, loss, weights, gradients;
};

std::string FileOf(const std::string& folder, std::string variable) {
  std::replace(variable.begin(), variable.end(), '/', '.');
  return "trajectories/" + folder + "/" + variable + ".npy";
}

template <typename T>
double LargestDifference(const Tensor& a, const Tensor& golden) {
  const auto x = a.data<T>();
  const auto y = golden.data<float>();
  if (x.size() != y.size()) return INFINITY;
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double difference = std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

template <typename T>
void ExpectTrajectory(const json& run, const std::string& backend, DataFormat format, const Tolerances& tolerances) {
  const std::string name = run["name"], inputs = run["inputs_from"];
  SCOPED_TRACE(name + " on " + backend + " in " + std::string(DTypeName(DTypeOf<T>())) +
               (format == DataFormat::kNCHW ? ", NCHW" : ", NHWC"));
  const Tensor all_images = As<T>(testing::GoldenTensor("trajectories/" + inputs + "/images.npy"));
  const Tensor all_labels = testing::GoldenTensor("trajectories/" + inputs + "/labels.npy");
  RunGraph net(run, DTypeOf<T>(), all_images.shape().Erased(0), format);
  Session session(&net.graph, {.intra_op_threads = 1, .backend = backend});
  session.Initialize();
  for (const auto& [variable, ref] : net.variables.all())
    session.WriteVariable(ref, As<T>(testing::GoldenTensor(FileOf(inputs + "/initial", variable))));

  std::vector<Output> fetches{net.loss};
  fetches.insert(fetches.end(), net.gradients.begin(), net.gradients.end());
  const auto runner = session.Prepare({net.images, net.labels}, fetches, net.updates);
  const bool gradients_are_golden = name == inputs;
  for (int64_t step = 0; step < run["steps"].get<int64_t>(); ++step) {
    const int64_t batch = step % all_images.shape()[0];
    const auto results = runner->Run({Item<T>(all_images, batch), Item<int32_t>(all_labels, batch)});
    const double wanted = run["loss_float64"][static_cast<size_t>(step)];
    EXPECT_NEAR(results[0].template scalar<T>(), wanted, step == 0 ? tolerances.first_loss * wanted : tolerances.loss)
        << "loss at step " << step;
    if (step > 0 || !gradients_are_golden) continue;
    for (size_t i = 0; i < net.gradients.size(); ++i) {
      const std::string variable = VariableName(net.graph, net.variables.trainable()[i]);
      EXPECT_LE(
          LargestDifference<T>(results[i + 1], testing::GoldenTensor(FileOf(inputs + "/gradient_step0", variable))),
          tolerances.gradients)
          << "gradient of " << variable;
    }
  }
  for (const auto& [variable, ref] : net.variables.all())
    EXPECT_LE(LargestDifference<T>(session.ReadVariable(ref), testing::GoldenTensor(FileOf(name + "/final", variable))),
              tolerances.weights)
        << variable;
  const auto logits = session.Run({{net.images, Item<T>(all_images, 0)}, {net.labels, Item<int32_t>(all_labels, 0)}},
                                  {net.eval_logits});
  EXPECT_LE(LargestDifference<T>(logits[0], testing::GoldenTensor("trajectories/" + name + "/eval_logits.npy")),
            10 * tolerances.weights);
}

template <typename T>
void ExpectTrajectories(const std::string& backend, const Tolerances& tolerances) {
  const json index = testing::GoldenJson("trajectories/index.json");
  for (const auto& run : index["runs"])
    for (DataFormat format : {DataFormat::kNHWC, DataFormat::kNCHW})
      ExpectTrajectory<T>(run, backend, format, tolerances);
}

// Losses agree to 1e-9 (README); weights and gradients are stored as float32, running variances are near one.
TEST(GoldenTrajectories, TwentyStepsInFloat64AreTensorFlows) {
  ExpectTrajectories<double>("reference", {1e-9, 1e-9, 5e-7, 5e-7});
}

TEST(GoldenTrajectories, TwentyStepsInFloat32StayCloseOnTheReferenceBackend) {
  ExpectTrajectories<float>("reference", {1e-6, 2e-4, 1e-3, 1e-4});
}

TEST(GoldenTrajectories, TwentyStepsInFloat32StayCloseOnTheCpuBackend) {
  ExpectTrajectories<float>("cpu", {1e-6, 2e-4, 1e-3, 1e-4});
}

}  // namespace
}  // namespace muster
