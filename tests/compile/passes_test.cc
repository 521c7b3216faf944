// Corner cases of single passes, through the session: what a pass must not do to a graph that looks almost right for
// it.

#include <gtest/gtest.h>

#include "muster/gradients.h"
#include "muster/ops.h"
#include "muster/session.h"

namespace muster {
namespace {

Tensor Ramp(Shape shape, float start = -1, float step = 0.125F) {
  Tensor t(DType::kFloat32, shape);
  for (float& value : t.data<float>()) value = start += step;
  return t;
}

std::vector<float> Values(const Tensor& t) { return {t.data<float>().begin(), t.data<float>().end()}; }

class Passes : public testing::Test {
 protected:
  Output Constant(const Tensor& value) {
    return ops::MakeVariable(root_, "c" + std::to_string(count_++), ops::Const(root_, value), false);
  }
  Variable Scalar(const char* name, float value) {
    return ops::MakeVariable(root_, name, ops::Scalar<float>(root_, value));
  }

  Graph graph_;
  Scope root_{&graph_};
  int count_ = 0;
};

}  // namespace

TEST_F(Passes, ScalarVariablesThatShareAGradientAreUpdatedOneByOne) {
  Variable a = Scalar("a", 1), b = Scalar("b", 1);
  auto g = Gradients(root_, ops::Add(root_, a, b), {a, b});
  Output rate = ops::Scalar<float>(root_, 0.25F);
  NodeId train = ops::Group(
      root_, {ops::ApplyGradientDescent(root_, a, rate, g[0]), ops::ApplyGradientDescent(root_, b, rate, g[1])});
  Session session(&graph_);
  session.Initialize();
  session.Run({}, {}, {train});
  EXPECT_EQ(session.ReadVariable(a).scalar<float>(), 0.75F);
  EXPECT_EQ(session.ReadVariable(b).scalar<float>(), 0.75F);
}

TEST_F(Passes, NeighbouringUpdatesOfOneShapeBecomeOneStep) {
  std::vector<NodeId> updates;
  std::vector<Variable> variables;
  Output rate = ops::Scalar<float>(root_, 1);
  for (const char* name : {"a", "b", "c"})
    variables.push_back(ops::MakeVariable(root_, name, ops::Fill(root_, DType::kFloat32, Shape{5}, 1)));
  std::vector<Output> gradients;
  for (const Variable& v : variables) gradients.push_back(ops::Square(root_, ops::Neg(root_, v)));
  for (size_t i = 0; i < 3; ++i) updates.push_back(ops::ApplyGradientDescent(root_, variables[i], rate, gradients[i]));
  Session session(&graph_);
  auto runner = session.Prepare({}, {}, updates);
  EXPECT_EQ(runner->stats().steps_by_op.at("ApplyGradientDescent"), 1);
  session.Initialize();
  runner->Run();
  for (const Variable& v : variables) EXPECT_EQ(Values(session.ReadVariable(v)), std::vector<float>(5, 0));
}

// Until then a step can be stopped as if it had never begun.
TEST_F(Passes, UpdatesComeAtTheEndUnlessSomethingIsBehindThem) {
  Variable average = Scalar("average", 1), early = Scalar("early", 1), w = Scalar("w", 1);
  const Output one = ops::Scalar<float>(root_, 1);
  const NodeId moved = ops::AssignAdd(root_, average, one).node, read = ops::AssignAdd(root_, early, one).node;
  const Output loss = ops::Square(root_.WithControlDependencies({read}), ops::Mul(root_, w, w));
  const NodeId train = ops::ApplyGradientDescent(root_, w, one, Gradients(root_, loss, {w})[0]);
  Session session(&graph_, {.backend = "reference", .optimize = false});
  const std::string plan = session.Prepare({}, {loss}, {moved, read, train})->PlanText();
  const size_t of_average = plan.find("(v0"), of_early = plan.find("(v1"), of_w = plan.rfind(" ApplyGradientDescent ");
  const size_t of_loss = plan.find(" Square ");
  EXPECT_LT(of_early, of_loss) << plan;
  EXPECT_LT(of_loss, of_average) << plan;
  EXPECT_LT(of_average, of_w) << plan;
  EXPECT_EQ(plan.find("gradients", of_average), plan.npos) << plan;
}

TEST_F(Passes, UpdatesThatReadEachOtherKeepTheirOrder) {
  Variable a = ops::MakeVariable(root_, "a", ops::Fill(root_, DType::kFloat32, Shape{4}, 1));
  Variable b = ops::MakeVariable(root_, "b", ops::Fill(root_, DType::kFloat32, Shape{4}, 10));
  Output rate = ops::Scalar<float>(root_, 1);
  NodeId update_b = ops::ApplyGradientDescent(root_, b, rate, a);  // reads a as it was
  NodeId update_a = ops::ApplyGradientDescent(root_, a, rate, ops::Fill(root_, DType::kFloat32, Shape{4}, -100));
  Session session(&graph_);
  session.Initialize();
  session.Run({}, {}, {update_b, update_a});
  EXPECT_EQ(session.ReadVariable(a).data<float>()[0], 101);
  EXPECT_EQ(session.ReadVariable(b).data<float>()[0], 9);
}

TEST_F(Passes, AFusedNodeStillWaitsForWhatItsMembersWaitedFor) {
  Variable w = ops::MakeVariable(root_, "w", ops::Fill(root_, DType::kFloat32, Shape{3, 3}, 1));
  Output x = Constant(Ramp({2, 3}, 0, 0));  // zeros
  Output ones = ops::Add(root_, x, ops::Scalar<float>(root_, 1));
  NodeId update = ops::AssignAdd(root_, w, ops::Fill(root_, DType::kFloat32, Shape{3, 3}, 1)).node;
  Scope after = root_.WithControlDependencies({update});
  Output y = ops::Relu(after, ops::BiasAdd(after, ops::MatMul(after, ones, w), Constant(Ramp({3}, 0, 0))));
  Session session(&graph_);
  session.Initialize();
  EXPECT_EQ(session.Run({}, {y})[0].data<float>()[0], 6);
  EXPECT_EQ(session.ReadVariable(w).data<float>()[0], 2);
}

TEST_F(Passes, AProductThatTwoReadersShareIsNotFusedAway) {
  Output x = Constant(Ramp({2, 3})), w1 = Constant(Ramp({3, 3})), w2 = Constant(Ramp({3, 3}, 0));
  Output b1 = Constant(Ramp({3})), b2 = Constant(Ramp({3}, 2));
  Output h = ops::MatMul(root_, x, w1);
  Output z = ops::BiasAdd(root_, ops::MatMul(root_, h, w2), b2), y = ops::BiasAdd(root_, h, b1);
  Session fused(&graph_), plain(&graph_, {.backend = "reference", .optimize = false});
  fused.Initialize();
  plain.Initialize();
  const auto a = fused.Run({}, {z, y}), b = plain.Run({}, {z, y});
  for (size_t f = 0; f < 2; ++f)
    for (size_t i = 0; i < Values(a[f]).size(); ++i) EXPECT_NEAR(Values(a[f])[i], Values(b[f])[i], 1e-5);
}

TEST_F(Passes, AFetchedMemberOfAFusionIsStillThere) {
  Output x = Constant(Ramp({2, 3})), w = Constant(Ramp({3, 3})), bias = Constant(Ramp({3}));
  Output product = ops::MatMul(root_, x, w), sum = ops::BiasAdd(root_, product, bias), y = ops::Relu(root_, sum);
  Session session(&graph_);
  session.Initialize();
  const auto values = session.Run({}, {product, sum, y});
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(Values(values[2])[i], std::max(Values(values[1])[i], 0.0F));
}

TEST_F(Passes, AnOpaqueFilterReadBehindItsUpdateIsTheUpdatedOne) {
  Variable w = ops::MakeVariable(root_, "w", ops::Fill(root_, DType::kFloat32, Shape{3, 3, 16, 32}, 1));
  Output x = Constant(Ramp({2, 8, 8, 16}));
  Output y = ops::Conv2D(root_, x, w, {});
  Output updated = ops::AssignAdd(root_, w, ops::Fill(root_, DType::kFloat32, Shape{3, 3, 16, 32}, 1));
  Output before = ops::Sum(root_, w), after = ops::Sum(root_.WithControlDependencies({updated.node}), w);
  Session session(&graph_);
  session.Initialize();
  const auto values = session.Run({}, {before, after, y});
  EXPECT_EQ(values[0].scalar<float>(), 3 * 3 * 16 * 32);
  EXPECT_EQ(values[1].scalar<float>(), 2 * 3 * 3 * 16 * 32);
}

TEST_F(Passes, AReadOnAnotherDeviceBehindAnUpdateIsTheUpdatedOne) {
  Variable v = ops::MakeVariable(root_.WithDevice("/cpu:0"), "v", ops::Scalar<float>(root_, 1));
  Output updated = ops::AssignAdd(root_.WithDevice("/cpu:0"), v, ops::Scalar<float>(root_, 10));
  Scope second = root_.WithDevice("/cpu:1");
  Output early = ops::Neg(second, v), late = ops::Neg(second.WithControlDependencies({updated.node}), v);
  Session session(&graph_, {.num_cpu_devices = 2});
  session.Initialize();
  const auto values = session.Run({}, {early, late});
  EXPECT_EQ(values[0].scalar<float>(), -1);
  EXPECT_EQ(values[1].scalar<float>(), -11);
}

TEST_F(Passes, AControlEdgeBetweenDevicesHolds) {
  Variable v = ops::MakeVariable(root_.WithDevice("/cpu:0"), "v", ops::Scalar<float>(root_, 1));
  Variable w = ops::MakeVariable(root_.WithDevice("/cpu:1"), "w", ops::Scalar<float>(root_, 1));
  NodeId first = ops::AssignAdd(root_, v, ops::Scalar<float>(root_, 1)).node;
  NodeId second =
      ops::AssignAdd(root_.WithControlDependencies({first}), w, ops::Scalar<float>(root_.WithDevice("/cpu:1"), 1)).node;
  Session session(&graph_, {.num_cpu_devices = 2});
  session.Initialize();
  auto runner = session.Prepare({}, {}, {second});
  EXPECT_EQ(runner->stats().steps_by_op.at("_Send"), 1);
  runner->Run();
  EXPECT_EQ(session.ReadVariable(v).scalar<float>(), 2);
  EXPECT_EQ(session.ReadVariable(w).scalar<float>(), 2);
}

TEST_F(Passes, WeightDecayIsOfTheValueBeforeEitherUpdate) {
  Variable v = ops::MakeVariable(root_, "v", ops::Fill(root_, DType::kFloat32, Shape{2}, 1));
  Output one = ops::Scalar<float>(root_, 1);
  Output gradient = ops::AddN(root_, {ops::Fill(root_, DType::kFloat32, Shape{2}, 0), ops::Mul(root_, v, one)});
  NodeId doubled = ops::AssignAdd(root_, v, ops::Fill(root_, DType::kFloat32, Shape{2}, 4)).node;
  NodeId update = ops::ApplyGradientDescent(root_.WithControlDependencies({doubled}), v, one, gradient);
  Session session(&graph_);
  session.Initialize();
  session.Run({}, {}, {update});
  EXPECT_EQ(session.ReadVariable(v).data<float>()[0], 4);  // 1 + 4 - 1 * 1
}

// A dense layer y = x w and an update of w by plain gradient descent, with and without something that must keep them
// apart.
class GradientUpdates : public Passes {
 protected:
  static constexpr int64_t kBatch = 3, kIn = 320, kOut = 208;  // large enough for a form of its own
  Variable w_ = ops::MakeVariable(root_, "w", ops::Const(root_, Ramp({kIn, kOut}, -1, 0.0001F)));
  Output x_ = Constant(Ramp({kBatch, kIn}, -0.5F, 0.001F));
  Output loss_ = ops::Sum(root_, ops::Square(root_, ops::MatMul(root_, x_, w_)));
  Output rate_ = ops::Scalar<float>(root_, 0.0001F);

  // Both backends after one step with "fetches"; how many fused updates the fast one has.
  int FusedAndEqual(const std::vector<Output>& fetches, NodeId update) {
    Session fused(&graph_), plain(&graph_, {.backend = "reference", .optimize = false});
    const auto runner = fused.Prepare({}, fetches, {update});
    fused.Initialize();
    plain.Initialize();
    runner->Run();
    plain.Run({}, fetches, {update});
    const auto a = Values(fused.ReadVariable(w_)), b = Values(plain.ReadVariable(w_));
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5) << i;
    const auto& steps = runner->stats().steps_by_op;
    const auto it = steps.find("_MatMulApplyGradientDescent");
    return it == steps.end() ? 0 : it->second;
  }
};

TEST_F(GradientUpdates, ADenseGradientIsAppliedAsItIsMade) {
  const Output gradient = Gradients(root_, loss_, {w_})[0];
  EXPECT_EQ(FusedAndEqual({loss_}, ops::ApplyGradientDescent(root_, w_, rate_, gradient)), 1);
}

TEST_F(GradientUpdates, WithWeightDecayToo) {
  const Output decayed =
      ops::Add(root_, loss_, ops::Mul(root_, ops::L2Loss(root_, w_), ops::Scalar<float>(root_, 0.5F)));
  const Output gradient = Gradients(root_, decayed, {w_})[0];
  EXPECT_EQ(FusedAndEqual({decayed}, ops::ApplyGradientDescent(root_, w_, rate_, gradient)), 1);
}

TEST_F(GradientUpdates, AFetchedGradientIsWritten) {
  const Output gradient = Gradients(root_, loss_, {w_})[0];
  EXPECT_EQ(FusedAndEqual({gradient}, ops::ApplyGradientDescent(root_, w_, rate_, gradient)), 0);
}

TEST_F(GradientUpdates, AnUpdateThatWaitsForTheGradientStaysApart) {
  const Output gradient = Gradients(root_, loss_, {w_})[0];
  const NodeId barrier = ops::Group(root_, {gradient.node});
  EXPECT_EQ(FusedAndEqual({}, ops::ApplyGradientDescent(root_.WithControlDependencies({barrier}), w_, rate_, gradient)),
            0);
  EXPECT_EQ(
      FusedAndEqual({}, ops::ApplyGradientDescent(root_.WithControlDependencies({gradient.node}), w_, rate_, gradient)),
      0);
}

TEST_F(GradientUpdates, FactorsThatAreUpdatedThemselvesAreReadBefore) {
  Variable u = ops::MakeVariable(root_, "u", ops::Const(root_, Ramp({kBatch, kIn}, -0.5F, 0.001F)));
  const Output loss = ops::Sum(root_, ops::Square(root_, ops::MatMul(root_, u, w_)));
  const auto gradients = Gradients(root_, loss, {u, w_});
  const NodeId both = ops::Group(root_, {ops::ApplyGradientDescent(root_, u, rate_, gradients[0]),
                                         ops::ApplyGradientDescent(root_, w_, rate_, gradients[1])});
  EXPECT_EQ(FusedAndEqual({}, both), 0);
}

TEST_F(Passes, ThreeDimensionsHaveNoNCHW) {
  Output x = Constant(Ramp({2, 3, 5})), bias = Constant(Ramp({3}));
  EXPECT_THROW(ops::BiasAdd(root_, x, bias, DataFormat::kNCHW), Error);
}

TEST_F(Passes, BiasOfADenseLayerMeansTheSameInNCHW) {
  Output x = Constant(Ramp({2, 3})), bias = Constant(Ramp({3}, 5));
  Output a = ops::BiasAdd(root_, x, bias, DataFormat::kNCHW), b = ops::BiasAdd(root_, x, bias);
  Session session(&graph_);
  session.Initialize();
  const auto values = session.Run({}, {a, b});
  EXPECT_EQ(Values(values[0]), Values(values[1]));
}

TEST_F(Passes, AValueThatIsFedAndFetchedComesBack) {
  Output x = ops::Placeholder(root_, DType::kFloat32, Shape{2}), y = ops::Relu(root_, x);
  Session session(&graph_);
  EXPECT_EQ(Values(session.Run({{y, Ramp({2})}}, {y, y})[1]), Values(Ramp({2})));
}

TEST_F(Passes, TwoWritersWithAReaderBehindTheSecondHaveAnOrder) {
  Variable v = Scalar("v", 0);
  NodeId first = ops::Assign(root_, v, ops::Scalar<float>(root_, 1)).node,
         second = ops::Assign(root_, v, ops::Scalar<float>(root_, 2)).node;
  Output read = ops::Identity(root_.WithControlDependencies({second}), v);
  Session session(&graph_);
  session.Initialize();
  EXPECT_EQ(session.Run({}, {read}, {first})[0].scalar<float>(), 2);
}

TEST_F(Passes, MembersOnTwoDevicesAreNotFused) {
  Output x = Constant(Ramp({2, 3})), w = Constant(Ramp({3, 3})), bias = Constant(Ramp({3}));
  Output y = ops::BiasAdd(root_.WithDevice("/cpu:0"), ops::MatMul(root_.WithDevice("/cpu:1"), x, w), bias);
  Session session(&graph_, {.num_cpu_devices = 2});
  auto runner = session.Prepare({}, {y});
  EXPECT_EQ(runner->stats().steps_by_op.at("MatMul"), 1);
}

}  // namespace muster
