// A guard that is not finite stops the updates on all devices.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "muster/error.h"
#include "muster/ops.h"
#include "muster/session.h"

namespace muster {
namespace {

// On each device w := w - x * w, with the gradient of x * w * w / 2, and an average that moves by 1 without a gradient;
// the loss of all on the first CPU.
class Devices {
 public:
  Devices(const std::string& type, const SessionOptions& options) {
    const Scope root(&graph_);
    std::vector<Output> losses;
    for (int d = 0; d < 2; ++d) {
      const Scope here = root.WithDevice("/" + type + ":" + std::to_string(d));
      feeds_.push_back(ops::Placeholder(here, DType::kFloat32, {}));
      weights_.push_back(ops::MakeVariable(here, "w" + std::to_string(d), ops::Scalar<float>(here, 8)));
      losses.push_back(ops::Mul(here, feeds_.back(), ops::L2Loss(here, weights_.back())));
      gradients_.push_back(ops::Mul(here.WithName("gradients"), feeds_.back(), weights_.back()));
    }
    loss_ = ops::AddN(root.WithDevice("/cpu:0").Named("loss"), losses);
    std::vector<NodeId> updates;
    for (size_t d = 0; d < 2; ++d) {
      const Scope here = root.WithDevice("/" + type + ":" + std::to_string(d));
      updates.push_back(ops::AssignSub(here, weights_[d], gradients_[d]).node);
      averages_.push_back(ops::MakeVariable(here, "average" + std::to_string(d), ops::Scalar<float>(here, 0)));
      updates.push_back(ops::AssignAdd(here, averages_.back(), ops::Scalar<float>(here, 1)).node);
    }
    session_ = std::make_unique<Session>(&graph_, options);
    session_->Initialize();
    runner_ = session_->Prepare(feeds_, {loss_}, updates);
    runner_->StopUnlessFinite(0);
  }

  float Run(float first, float second) {
    return runner_->Run({Tensor::Scalar(first), Tensor::Scalar(second)})[0].scalar<float>();
  }
  float Weight(size_t d) { return session_->ReadVariable(weights_[d]).scalar<float>(); }
  float Average(size_t d) { return session_->ReadVariable(averages_[d]).scalar<float>(); }

 private:
  Graph graph_;
  std::vector<Output> feeds_, gradients_;
  std::vector<Variable> weights_, averages_;
  Output loss_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Runner> runner_;
};

void ExpectAllOrNone(Devices devices) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(devices.Run(0.5f, 0.25f), 16 + 8);
  EXPECT_EQ(devices.Weight(0), 4);
  EXPECT_EQ(devices.Weight(1), 6);
  for (const bool is_first : {true, false}) {
    EXPECT_FALSE(std::isfinite(devices.Run(is_first ? kNan : 0.5f, is_first ? 0.5f : kNan)));
    EXPECT_EQ(devices.Weight(0), 4);
    EXPECT_EQ(devices.Weight(1), 6);
    for (size_t d = 0; d < 2; ++d) EXPECT_EQ(devices.Average(d), 1);
  }
  EXPECT_EQ(devices.Run(0.5f, 0.5f), 4 + 9);
  EXPECT_EQ(devices.Weight(0), 2);
  EXPECT_EQ(devices.Weight(1), 3);
}

TEST(Guards, StopTheUpdatesOnAllCpuDevices) {
  ExpectAllOrNone(Devices("cpu", {.num_cpu_devices = 2, .intra_op_threads = 1}));
}

TEST(Guards, StopTheUpdatesOnAllGpusWhateverTheOrderOfStreams) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    SessionOptions options;
    options.num_gpus = 2;
    options.intra_op_threads = 1;
    options.gpu.simulated_gpus = 2;
    options.gpu.card_memory_mb = 64;
    options.gpu.delay_seed = seed;
    options.gpu.check_hazards = true;
    ExpectAllOrNone(Devices("gpu", options));
  }
}

TEST(Guards, CannotBeWhatAnUpdateMakes) {
  Graph graph;
  const Scope root(&graph);
  const Variable w = ops::MakeVariable(root, "w", ops::Scalar<float>(root, 1));
  const Output updated = ops::AssignSub(root, w, ops::Mul(root.WithName("gradients"), w, ops::Scalar<float>(root, 2)));
  const Output loss = ops::Neg(root, updated);
  Session session(&graph, {.backend = "reference", .optimize = false});
  session.Initialize();
  auto runner = session.Prepare({}, {loss}, {updated.node});
  runner->StopUnlessFinite(0);
  EXPECT_THROW(runner->Run(), Error);
}

}  // namespace
}  // namespace muster
