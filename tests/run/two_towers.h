#pragma once

#include <string>
#include <vector>

#include "muster/gradients.h"
#include "muster/ops.h"
#include "muster/session.h"

namespace muster::testing {

// Two copies of a small dense network on two devices, fed from a third; the first layer's gradients are averaged on the
// first tower's device, the second's on the other's, and both copies are updated. Every kind of transfer appears.
class TwoTowers {
 public:
  TwoTowers(const std::string& home, const std::string& first, const std::string& second) {
    Scope root(&graph_);
    const Scope at_home = root.WithDevice(home);
    const Output images = ops::RandomUniform(at_home, DType::kFloat32, Shape{8, 6});
    const std::vector<Output> parts = ops::Split(at_home, images, 0, 2);
    std::vector<std::vector<Output>> gradients;
    const std::vector<std::string> devices{first, second};
    for (size_t t = 0; t < 2; ++t) {
      const Scope tower = root.WithVariableScope("v" + std::to_string(t)).WithDevice(devices[t]);
      const Variable hidden = Weights(tower, "hidden", Shape{6, 5}), top = Weights(tower, "top", Shape{5, 3});
      const Output logits = ops::MatMul(tower, ops::Relu(tower, ops::MatMul(tower, parts[t], hidden)), top);
      const Output loss = ops::Mean(tower, ops::Square(tower, ops::Sub(tower, logits, ops::Scalar<float>(tower, 1))));
      losses_.push_back(loss);
      gradients.push_back(Gradients(tower, loss, {hidden, top}));
      variables_.push_back(hidden);
      variables_.push_back(top);
    }
    std::vector<NodeId> updates;
    for (size_t g = 0; g < 2; ++g) {
      const Scope reducer = root.WithDevice(devices[g]);
      const Output mean =
          ops::Mul(reducer, ops::AddN(reducer, {gradients[0][g], gradients[1][g]}), ops::Scalar<float>(reducer, 0.5F));
      for (size_t t = 0; t < 2; ++t) {
        const Scope tower = root.WithDevice(devices[t]);
        updates.push_back(
            ops::ApplyGradientDescent(tower, variables_[2 * t + g], ops::Scalar<float>(tower, 0.1F), mean));
      }
    }
    train_ = ops::Group(at_home, updates);
    loss_ = ops::AddN(at_home, losses_);
  }

  const Graph& graph() const { return graph_; }
  Output loss() const { return loss_; }
  NodeId train() const { return train_; }
  const std::vector<Variable>& variables() const { return variables_; }

  // Losses of the steps, then all weights.
  std::vector<float> Train(const SessionOptions& options, int steps) const {
    Session session(&graph_, options);
    session.Initialize();
    auto runner = session.Prepare({}, {loss_}, {train_});
    std::vector<float> values;
    for (int s = 0; s < steps; ++s) values.push_back(runner->Run()[0].scalar<float>());
    for (const Variable& v : variables_) {
      const Tensor weights = session.ReadVariable(v);
      values.insert(values.end(), weights.data<float>().begin(), weights.data<float>().end());
    }
    return values;
  }

 private:
  static Variable Weights(const Scope& tower, const char* name, const Shape& shape) {
    const int64_t count = shape.num_elements();
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<float>((i * 7) % count) / static_cast<float>(count) - 0.4F);
    return ops::MakeVariable(tower, name, ops::Const(tower, Tensor::Of<float>(shape, values)));
  }

  Graph graph_;
  std::vector<Variable> variables_;  // by tower, then layer
  std::vector<Output> losses_;
  Output loss_;
  NodeId train_ = kNoNode;
};

// Reference kernels on simulated GPUs whose every access is checked.
inline SessionOptions CheckedGpus(int count, uint64_t delay_seed = 0) {
  SessionOptions options;
  options.backend = "reference";
  options.gpu.simulated_gpus = count;
  options.gpu.delay_seed = delay_seed;
  options.gpu.check_hazards = true;
  return options;
}

}  // namespace muster::testing
