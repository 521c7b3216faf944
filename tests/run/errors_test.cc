// Bad input to the session gets an error, and the session works afterwards.

#include <gtest/gtest.h>

#include "muster/gradients.h"
#include "muster/ops.h"
#include "muster/session.h"

namespace muster {

TEST(SessionErrors, OutputsThatDoNotExistAreRefused) {
  Graph graph;
  Scope root(&graph);
  Output x = ops::Placeholder(root, DType::kFloat32, Shape{});
  NodeId nothing = ops::NoOp(root);
  Session session(&graph, {.backend = "reference"});
  EXPECT_THROW(session.Run({}, {Output{nothing, 0}}), Error);
  EXPECT_THROW(session.Run({{Output{}, Tensor::Scalar<float>(1)}}, {x}), Error);
  EXPECT_THROW(session.ReadVariable(Output{}), Error);
  EXPECT_THROW(session.ReadVariable(x), Error);
  EXPECT_THROW(Gradients(root, x, {Output{}}), Error);
}

TEST(SessionErrors, EmptyAndRepeatedFeedsAreRefused) {
  Graph graph;
  Scope root(&graph);
  Output x = ops::Placeholder(root, DType::kFloat32, Shape{});
  Output y = ops::Neg(root, x);
  Session session(&graph, {.backend = "reference"});
  EXPECT_THROW(session.Run({{x, Tensor{}}}, {y}), Error);
  EXPECT_THROW(session.Run({{x, Tensor::Scalar<float>(1)}, {x, Tensor::Scalar<float>(2)}}, {y}), Error);
  EXPECT_THROW(session.Prepare({x}, {y})->Run({Tensor{}}), Error);
}

TEST(SessionErrors, AVariableCannotBeFed) {
  Graph graph;
  Scope root(&graph);
  Variable v = ops::MakeVariable(root, "v", ops::Scalar<float>(root, 1));
  Output y = ops::Neg(root, v);
  Session session(&graph, {.backend = "reference"});
  EXPECT_THROW(session.Run({{v, Tensor::Scalar<float>(1)}}, {y}), Error);
}

TEST(SessionErrors, AGuardMustBeAFloatingScalarOfThePlan) {
  Graph graph;
  Scope root(&graph);
  Variable v = ops::MakeVariable(root, "v", ops::Fill(root, DType::kFloat32, Shape{3}, 1));
  Session session(&graph, {.backend = "reference"});
  session.Initialize();
  auto runner = session.Prepare({}, {v});
  runner->Run();
  EXPECT_THROW(runner->StopUnlessFinite(1), Error);
  EXPECT_THROW(runner->StopUnlessFinite(0), Error);
}

TEST(SessionErrors, AGuardThatIsRefusedIsRefusedAgain) {
  Graph graph;
  Scope root(&graph);
  Output x = ops::Fill(root, DType::kFloat32, Shape{3}, 1);
  Session session(&graph, {.backend = "reference"});
  auto runner = session.Prepare({}, {x});
  runner->StopUnlessFinite(0);  // noticed when there is an executor
  EXPECT_THROW(runner->Run(), Error);
  EXPECT_THROW(runner->Run(), Error);
}

TEST(SessionErrors, InitialValuesDoNotDependOnWhatRanBefore) {
  Graph graph;
  Scope root(&graph);
  Variable v = ops::MakeVariable(root, "v", ops::RandomUniform(root, DType::kFloat32, Shape{4}));
  Output other = ops::RandomUniform(root, DType::kFloat32, Shape{4});
  Session fresh(&graph, {.backend = "reference"}), used(&graph, {.backend = "reference"});
  fresh.Initialize();
  for (int i = 0; i < 3; ++i) used.Run({}, {other});
  used.Initialize();
  EXPECT_EQ(fresh.ReadVariable(v).data<float>()[1], used.ReadVariable(v).data<float>()[1]);
}

TEST(SessionErrors, VariablesWrittenBeforeAnyPlanStayOnTheirDevices) {
  Graph graph;
  Scope root(&graph);
  const Shape shape{16};
  std::vector<Variable> v;
  for (int i = 0; i < 3; ++i)
    v.push_back(ops::MakeVariable(root.WithDevice(i == 1 ? "/cpu:1" : "/cpu:0"), "v" + std::to_string(i),
                                  ops::Fill(root, DType::kFloat32, shape, 0)));
  std::vector<NodeId> updates;
  Output rate = ops::Scalar<float>(root, 1);
  for (int i = 0; i < 3; ++i) {
    Scope home = root.WithDevice(i == 1 ? "/cpu:1" : "/cpu:0");
    updates.push_back(
        ops::ApplyGradientDescent(home, v[static_cast<size_t>(i)], rate, ops::Square(home, v[static_cast<size_t>(i)])));
  }
  Session session(&graph, {.num_cpu_devices = 2, .backend = "reference"});
  for (const Variable& variable : v)
    session.WriteVariable(variable, Tensor::Of<float>(shape, std::vector<float>(16, 3)));
  session.Run({}, {}, updates);
  for (const Variable& variable : v) EXPECT_EQ(session.ReadVariable(variable).data<float>()[15], -6);
}

TEST(SessionErrors, AShapeWithMoreElementsThanFitIsRefused) {
  EXPECT_THROW((Shape{int64_t{1} << 40, int64_t{1} << 40}), Error);
}

}  // namespace muster
