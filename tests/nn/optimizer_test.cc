#include "muster/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "muster/error.h"
#include "muster/ops/math.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OptimizerTest : public ::testing::Test {
 protected:
  OptimizerTest() {
    w_ = GetVariable(scope_.WithDevice("/gpu:1"), {"cg/w", DType::kFloat32, {3}, initializers::Ones()});
    loss_ = ops::L2Loss(scope_, w_);
  }

  // Names of all variables that a step with this optimizer adds.
  std::vector<std::string> SlotNames(Optimizer& optimizer) {
    const size_t before = graph_.variables().size();
    optimizer.Minimize(scope_, loss_);
    std::vector<std::string> names;
    for (size_t i = before; i < graph_.variables().size(); ++i) names.push_back(graph_.variables()[i].name);
    return names;
  }

  Graph graph_;
  Scope scope_{&graph_};
  Variable w_;
  Output loss_;
};

TEST_F(OptimizerTest, SlotsAreNamedAsInTensorFlowsCheckpoints) {
  EXPECT_THAT(SlotNames(*GradientDescentOptimizer(0.1)), IsEmpty());
  EXPECT_THAT(SlotNames(*MomentumOptimizer(0.1, 0.9)), ElementsAre("cg/w/Momentum"));
  EXPECT_THAT(SlotNames(*RMSPropOptimizer(0.1)), ElementsAre("cg/w/RMSProp", "cg/w/RMSProp_1"));
  EXPECT_THAT(SlotNames(*AdamOptimizer(0.1)), ElementsAre("cg/w/Adam", "cg/w/Adam_1", "beta1_power", "beta2_power"));
  EXPECT_THAT(SlotNames(*AdagradOptimizer(0.1)), ElementsAre("cg/w/Adagrad"));
  EXPECT_THAT(SlotNames(*AdadeltaOptimizer(0.1)), ElementsAre("cg/w/Adadelta", "cg/w/Adadelta_1"));
  EXPECT_THAT(SlotNames(*FtrlOptimizer(0.1)), ElementsAre("cg/w/Ftrl", "cg/w/Ftrl_1"));
}

TEST_F(OptimizerTest, ASecondOptimizerOfAKindGetsItsOwnSlots) {
  SlotNames(*MomentumOptimizer(0.1, 0.9));
  EXPECT_THAT(SlotNames(*MomentumOptimizer(0.1, 0.9)), ElementsAre("cg/w/Momentum_1"));
}

TEST_F(OptimizerTest, ASecondStepOfOneOptimizerSharesItsSlots) {
  const auto optimizer = AdamOptimizer(0.1);
  SlotNames(*optimizer);
  EXPECT_THAT(SlotNames(*optimizer), IsEmpty());
}

TEST_F(OptimizerTest, SlotsAndUpdatesLiveBesideTheirVariableAndAreNotTrained) {
  const auto optimizer = MomentumOptimizer(0.1, 0.9);
  optimizer->Minimize(scope_.WithDevice("/cpu:0"), loss_);
  const Node& slot = graph_.node(optimizer->Slot(w_, "momentum").ref.node);
  EXPECT_THAT(slot.colocate_with, ElementsAre("cg/w"));
  EXPECT_EQ(TrainableVariables(graph_).size(), 1u);
  int updates = 0;
  for (NodeId id = 0; id < graph_.num_nodes(); ++id) {
    if (graph_.node(id).kind != OpKind::kApplyMomentum) continue;
    ++updates;
    EXPECT_THAT(graph_.node(id).colocate_with, ElementsAre("cg/w"));
    EXPECT_EQ(graph_.node(id).name, "Momentum/update_cg/w/ApplyMomentum");
  }
  EXPECT_EQ(updates, 1);
}

TEST_F(OptimizerTest, TheGlobalStepRisesAfterAllUpdates) {
  const Variable step = GlobalStep(scope_);
  const NodeId train = GradientDescentOptimizer(0.1)->Minimize(scope_, loss_, step);
  EXPECT_EQ(graph_.node(train).name, "GradientDescent/step");
  const Node& last = graph_.node(graph_.node(train).control_inputs.back());
  EXPECT_EQ(last.kind, OpKind::kAssignAdd);
  EXPECT_EQ(last.inputs[0], step.ref);
  EXPECT_THAT(last.control_inputs, ::testing::SizeIs(1));
}

TEST_F(OptimizerTest, VariablesWithoutGradientAreLeftAloneAndNoneAtAllIsAnError) {
  const Variable other = GetVariable(scope_, {"other", DType::kFloat32, {3}, initializers::Ones()});
  const auto optimizer = MomentumOptimizer(0.1, 0.9);
  const auto pairs = optimizer->ComputeGradients(scope_, loss_);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_TRUE(pairs[0].gradient.is_valid());
  EXPECT_FALSE(pairs[1].gradient.is_valid());
  optimizer->ApplyGradients(scope_, pairs);
  EXPECT_THAT(optimizer->Slots(other), IsEmpty());
  EXPECT_THROW(optimizer->ApplyGradients(scope_, {pairs[1]}), Error);
}

TEST_F(OptimizerTest, AMovingAverageStartsFromTheVariablesOwnFirstValue) {
  ExponentialMovingAverage average(0.999);
  average.Apply(scope_, {w_});
  const Variable shadow = average.Average(w_);
  EXPECT_EQ(VariableName(graph_, shadow), "cg/w/ExponentialMovingAverage");
  EXPECT_EQ(graph_.node(shadow.initializer).inputs[1], graph_.node(w_.initializer).inputs[1]);
  EXPECT_THROW(average.Average(shadow), Error);
}

}  // namespace
}  // namespace muster
