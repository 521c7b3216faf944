#include <gtest/gtest.h>

#include "muster/ops.h"
#include "muster/session.h"

namespace muster {
namespace {

SessionOptions Reference() { return {.backend = "reference"}; }

std::string ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST(Session, AFetchOfAnUnfedPlaceholderIsRefusedByName) {
  Graph graph;
  Scope root(&graph);
  Output x = ops::Placeholder(root.Named("images"), DType::kFloat32, Shape{2, 3});
  Output y = ops::Neg(root, x);
  Session session(&graph, Reference());
  EXPECT_EQ(ErrorOf([&] { session.Run({}, {y}); }), "placeholder images (float32[2,3]) is needed but not fed");
}

TEST(Session, AFedTensorOfTheWrongShapeIsRefusedByName) {
  Graph graph;
  Scope root(&graph);
  Output x = ops::Placeholder(root.Named("images"), DType::kFloat32, Shape{2, 3});
  Session session(&graph, Reference());
  EXPECT_EQ(ErrorOf([&] {
              session.Run({{x, Tensor(DType::kFloat32, Shape{3, 2})}}, {ops::Identity(root, x)});
            }),
            "images must be fed float32[2,3], not float32[3,2]");
}

TEST(Session, AnyValueCanBeFedInPlaceOfComputingIt) {
  Graph graph;
  Scope root(&graph);
  Output x = ops::Placeholder(root, DType::kFloat32, Shape{});
  Output y = ops::Neg(root, x), z = ops::Square(root, y);
  Session session(&graph, Reference());
  EXPECT_EQ(session.Run({{y, Tensor::Scalar<float>(5)}}, {z})[0].scalar<float>(), 25);
}

TEST(Session, ReadsBehindAControlDependencySeeTheUpdate) {
  Graph graph;
  Scope root(&graph);
  Variable v = ops::MakeVariable(root, "v", ops::Scalar<float>(root, 1));
  Output before = ops::Neg(root, v);
  Output added = ops::AssignAdd(root, v, ops::Scalar<float>(root, 10));
  Output after = ops::Identity(root.WithControlDependencies({added.node}), v);
  Session session(&graph, Reference());
  session.Initialize();
  const auto values = session.Run({}, {before, after, added});
  EXPECT_EQ(values[0].scalar<float>(), -1);
  EXPECT_EQ(values[1].scalar<float>(), 11);
  EXPECT_EQ(values[2].scalar<float>(), 11);
}

TEST(Session, ReadsAndUpdatesThatWaitForEachOtherInACircleAreRefused) {
  Graph graph;
  Scope root(&graph);
  Variable a = ops::MakeVariable(root, "a", ops::Scalar<float>(root, 1));
  Variable b = ops::MakeVariable(root, "b", ops::Scalar<float>(root, 2));
  Output one = ops::Scalar<float>(root, 1);
  NodeId write_a = ops::AssignAdd(root, a, one).node, write_b = ops::AssignAdd(root, b, one).node;
  Output read_a = ops::Neg(root.WithControlDependencies({write_b}), a),
         read_b = ops::Neg(root.WithControlDependencies({write_a}), b);
  Session session(&graph, Reference());
  session.Initialize();
  EXPECT_NE(ErrorOf([&] { session.Run({}, {read_a, read_b}); }).find("in a circle"), std::string::npos);
}

TEST(Session, ThousandsOfThreadsAreRefused) {
  Graph graph;
  EXPECT_NE(ErrorOf([&] { Session(&graph, {.intra_op_threads = 4096}); }).find("num_intra_threads is 4096"),
            std::string::npos);
}

TEST(Session, WrittenVariablesReadBack) {
  Graph graph;
  Scope root(&graph);
  Variable v = ops::MakeVariable(root, "v", ops::Fill(root, DType::kFloat32, Shape{3}, 0));
  Session session(&graph, Reference());
  session.WriteVariable(v, Tensor::Of<float>(Shape{3}, {1, 2, 3}));
  EXPECT_EQ(session.ReadVariable(v).data<float>()[2], 3);
  EXPECT_EQ(session.Run({}, {ops::Sum(root, v)})[0].scalar<float>(), 6);
}

TEST(Session, VariablesAddedLaterGetMemoryOfTheirOwn) {
  Graph graph;
  Scope root(&graph);
  Variable v = ops::MakeVariable(root, "v", ops::Scalar<float>(root, 1));
  Session session(&graph, Reference());
  session.Initialize();
  Variable w = ops::MakeVariable(root, "w", ops::Scalar<float>(root, 2));
  session.Run({}, {}, {w.initializer});
  EXPECT_EQ(session.ReadVariable(v).scalar<float>(), 1);
  EXPECT_EQ(session.ReadVariable(w).scalar<float>(), 2);
}

TEST(Session, AStepStopsBeforeItsUpdatesWhenTheLossIsNotFinite) {
  Graph graph;
  Scope root(&graph);
  Variable v = ops::MakeVariable(root, "v", ops::Scalar<float>(root, -1));
  Output loss = ops::Log(root, v);  // nan
  NodeId update = ops::AssignAdd(root.WithControlDependencies({loss.node}), v, ops::Scalar<float>(root, 5)).node;
  Session session(&graph, Reference());
  session.Initialize();
  auto runner = session.Prepare({}, {loss}, {update});
  runner->StopUnlessFinite(0);
  runner->Run();
  EXPECT_EQ(session.ReadVariable(v).scalar<float>(), -1);
}

}  // namespace muster
