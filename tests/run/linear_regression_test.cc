#include <cmath>

#include <gtest/gtest.h>

#include "muster/gradients.h"
#include "muster/ops.h"
#include "muster/session.h"

namespace muster {
namespace {

// c = a + b, loss = mean((c - 100)^2) over two elements, plain SGD: after n updates c = 100 - (100 - c0)(1 - 2 lr)^n,
// the closed form of reference/distributed_tensorflow.md 1.0.
class ToyProblem {
 public:
  explicit ToyProblem(double rate, SessionOptions options = {.backend = "reference"}) {
    Scope root(&graph_);
    a_ = ops::MakeVariable(root, "a", ops::Fill(root, DType::kFloat64, Shape{2}, 0));
    b_ = ops::MakeVariable(root, "b", ops::Fill(root, DType::kFloat64, Shape{2}, 0));
    c_ = ops::Add(root, a_, b_);
    Output error = ops::Square(root, ops::Sub(root, c_, ops::ScalarLike(root, 100, DType::kFloat64)));
    loss_ = ops::Mean(root, error);
    const auto gradients = Gradients(root, loss_, {a_, b_});
    Output lr = ops::ScalarLike(root, rate, DType::kFloat64);
    train_ = ops::Group(root, {ops::ApplyGradientDescent(root, a_, lr, gradients[0]),
                               ops::ApplyGradientDescent(root, b_, lr, gradients[1])});
    session_ = std::make_unique<Session>(&graph_, options);
    session_->Initialize();
  }

  double Step() { return session_->Run({}, {c_}, {train_})[0].data<double>()[0]; }
  double ReadA() { return session_->ReadVariable(a_).data<double>()[0]; }
  Session& session() { return *session_; }
  Output a() { return a_; }
  NodeId train() { return train_; }

 private:
  Graph graph_;
  Variable a_, b_;
  Output c_, loss_;
  NodeId train_;
  std::unique_ptr<Session> session_;
};

}  // namespace

TEST(LinearRegression, FollowsTheClosedForm) {
  ToyProblem problem(1e-2);
  for (int n = 0; n < 100; ++n) EXPECT_NEAR(problem.Step(), 100 - 100 * std::pow(1 - 2e-2, n), 1e-9) << "step " << n;
}

TEST(LinearRegression, AFetchedVariableIsTheOneBeforeTheUpdate) {
  ToyProblem problem(1e-2);
  EXPECT_EQ(problem.session().Run({}, {problem.a()}, {problem.train()})[0].data<double>()[0], 0);
  EXPECT_NEAR(problem.ReadA(), 1.0, 1e-12);
}

TEST(LinearRegression, IsTheSameWithoutPassesAndArena) {
  ToyProblem plain(1e-2, {.backend = "reference", .optimize = false, .use_arena = false}), planned(1e-2);
  for (int n = 0; n < 10; ++n) EXPECT_EQ(plain.Step(), planned.Step());
}

}  // namespace muster
