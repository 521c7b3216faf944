// Ctrl-C while a plan is replayed.

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <thread>

#include "base/interrupt.h"
#include "muster/error.h"
#include "muster/ops.h"
#include "muster/session.h"
#include "two_towers.h"

namespace muster {
namespace {

using testing::CheckedGpus;

// On each device an average that moves in the forward pass and a weight that moves by a gradient, with some work
// between; and a count of steps on the first CPU. Each step adds 1 to all of them.
class Counters {
 public:
  Counters(const std::string& type, const SessionOptions& options) {
    const Scope root(&graph_);
    const Output one = ops::Scalar<float>(root, 1);
    std::vector<NodeId> updates;
    std::vector<Output> losses;
    for (int d = 0; d < 2; ++d) {
      const Scope here = root.WithDevice("/" + type + ":" + std::to_string(d));
      const std::string number = std::to_string(d);
      for (const char* name : {"average", "weight"})
        variables_.push_back(ops::MakeVariable(here, name + number, ops::Scalar<float>(here, 0)));
      updates.push_back(ops::AssignAdd(here, variables_[variables_.size() - 2], one).node);
      Output x = ops::RandomUniform(here, DType::kFloat32, Shape{64, 64});
      for (int i = 0; i < 6; ++i) x = ops::Tanh(here, ops::MatMul(here, x, x));
      losses.push_back(ops::Mean(here, x));
      const Output zero = ops::Mul(here, losses.back(), ops::Scalar<float>(here, 0));
      const Output gradient = ops::Add(here.WithName("gradients"), zero, one);
      updates.push_back(ops::AssignAdd(here, variables_.back(), gradient).node);
    }
    const Scope home = root.WithDevice("/cpu:0");
    variables_.push_back(ops::MakeVariable(home, "count", ops::Scalar<float>(home, 0)));
    updates.push_back(ops::AssignAdd(home, variables_.back(), one).node);
    session_ = std::make_unique<Session>(&graph_, options);
    session_->Initialize();
    runner_ = session_->Prepare({}, {ops::AddN(home, losses)}, updates);
    runner_->FinishSteps();
  }

  // False: cancelled.
  bool Run() try {
    runner_->Run();
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCancelled) << error.what();
    return false;
  }

  void ExpectAll(float value) {
    for (const Variable& variable : variables_) EXPECT_EQ(session_->ReadVariable(variable).scalar<float>(), value);
  }

 private:
  Graph graph_;
  std::vector<Variable> variables_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Runner> runner_;
};

// Interrupts that come at any time of a step.
void ExpectWholeSteps(Counters counters) {
  std::minstd_rand random(7);
  float done = 0;
  for (int round = 0; round < 60; ++round) {
    InterruptScope interrupts;
    std::thread other([delay = random() % 3000] {
      std::this_thread::sleep_for(std::chrono::microseconds(delay));
      RequestInterrupt();
    });
    if (counters.Run()) ++done;
    other.join();
    counters.ExpectAll(done);
  }
  EXPECT_TRUE(counters.Run());
  counters.ExpectAll(done + 1);
}

}  // namespace

TEST(Interrupts, EndAStepOfTwoCpusBeforeAllUpdatesOrNotAtAll) {
  ExpectWholeSteps({"cpu", {.num_cpu_devices = 2, .intra_op_threads = 1, .backend = "reference"}});
}

TEST(Interrupts, EndAStepOfTwoGpusBeforeAllUpdatesOrNotAtAll) {
  for (uint64_t seed : {0, 1, 2}) ExpectWholeSteps({"gpu", CheckedGpus(2, seed)});
}

TEST(Interrupts, ThatCameBeforeTheStepChangeNothing) {
  for (const char* type : {"cpu", "gpu"}) {
    SessionOptions options = CheckedGpus(2);
    options.num_cpu_devices = 2;
    Counters counters(type, options);
    InterruptScope interrupts;
    RequestInterrupt();
    EXPECT_FALSE(counters.Run());
    counters.ExpectAll(0);
  }
}

// The loss comes behind an update of the same step.
TEST(Interrupts, LetAStepFinishThatHasBegunToUpdate) {
  Graph graph;
  Scope root(&graph);
  Variable v = ops::MakeVariable(root, "v", ops::Scalar<float>(root, 1));
  const NodeId moved = ops::AssignAdd(root, v, ops::Scalar<float>(root, 1)).node;
  Output x = ops::RandomUniform(root.WithControlDependencies({moved}), DType::kFloat32, Shape{64, 64});
  for (int i = 0; i < 6; ++i) x = ops::MatMul(root, x, x);
  Session session(&graph, {.backend = "reference", .optimize = false});
  session.Initialize();
  auto runner = session.Prepare({}, {x}, {moved});
  runner->FinishSteps();
  for (int round = 0; round < 20; ++round) {
    const float before = session.ReadVariable(v).scalar<float>();
    InterruptScope interrupts;
    std::thread other([round] {
      std::this_thread::sleep_for(std::chrono::microseconds(100 * round));
      RequestInterrupt();
    });
    bool is_finished = true;
    try {
      runner->Run();
    } catch (const Error&) {
      is_finished = false;
    }
    other.join();
    EXPECT_EQ(session.ReadVariable(v).scalar<float>(), before + (is_finished ? 1 : 0));
  }
}

// A layer of 100 million weights takes more than a second.
TEST(Interrupts, EndTheDrawingOfValues) {
  Graph graph;
  Scope root(&graph);
  const Output drawn = ops::TruncatedNormal(root, DType::kFloat32, Shape{1 << 20});
  Session session(&graph, {.intra_op_threads = 1});  // the thread sanitizer does not know OpenMP
  auto runner = session.Prepare({}, {ops::Sum(root, drawn)});
  const float sum = runner->Run()[0].scalar<float>();
  {
    InterruptScope interrupts;
    RequestInterrupt();
    EXPECT_THROW(runner->Run(), Error);
  }
  session.set_step(0);
  EXPECT_EQ(runner->Run()[0].scalar<float>(), sum);
}

}  // namespace muster
