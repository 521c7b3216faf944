#include "muster/variables.h"

#include <gtest/gtest.h>

#include "muster/error.h"

namespace muster {
namespace {

VariableSpec Spec(std::string_view name, Shape shape = {2, 3}) {
  return {name, DType::kFloat32, shape, initializers::TruncatedNormal(0, 0.1)};
}

TEST(Variables, ReuseDecidesBetweenMakingAndSharing) {
  Graph graph;
  const Scope scope = Scope(&graph).WithVariableScope("cg");
  EXPECT_THROW(GetVariable(scope, Spec("w"), Reuse::kAlways), Error);
  const Variable made = GetVariable(scope, Spec("w"), Reuse::kAuto);
  EXPECT_EQ(GetVariable(scope, Spec("w"), Reuse::kAuto).ref, made.ref);
  EXPECT_EQ(GetVariable(scope, Spec("w"), Reuse::kAlways).ref, made.ref);
  EXPECT_THROW(GetVariable(scope, Spec("w"), Reuse::kNever), Error);
  EXPECT_EQ(graph.variables().size(), 1u);
}

TEST(Variables, SharingUnderAnotherShapeIsRefusedNamingBoth) {
  Graph graph;
  const Scope scope(&graph);
  GetVariable(scope, Spec("w"));
  try {
    GetVariable(scope, Spec("w", {4}), Reuse::kAuto);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "variable w is float32[2,3], but float32[4] is asked for");
  }
}

// Random streams are keyed by node names: a variable must start with the same numbers whichever tower makes it.
TEST(Variables, TheFirstValueDoesNotDependOnTheScopeThatAsks) {
  Graph plain, towers;
  const Variable a = GetVariable(Scope(&plain).WithVariableScope("cg"), Spec("w"));
  const Variable b = GetVariable(Scope(&towers).WithName("tower_1").WithVariableScope("cg"), Spec("w"));
  const auto draw = [](const Graph& graph, const Variable& variable) {
    const Node& scaled = graph.node(graph.node(variable.initializer).inputs[1].node);
    return graph.node(scaled.inputs[0].node).name;
  };
  EXPECT_EQ(draw(plain, a), "cg/w/Initializer/TruncatedNormal");
  EXPECT_EQ(draw(towers, b), draw(plain, a));
}

TEST(Variables, TheGlobalStepIsOneIntegerForAll) {
  Graph graph;
  const Scope scope(&graph);
  const Variable step = GlobalStep(scope);
  EXPECT_EQ(GlobalStep(scope.WithName("tower_1")).ref, step.ref);
  EXPECT_EQ(graph.dtype(step.ref), DType::kInt64);
  EXPECT_TRUE(TrainableVariables(graph).empty());
}

TEST(Initializers, FansAreThoseOfTensorFlow) {
  using initializers::ComputeFans;
  EXPECT_EQ(ComputeFans({7, 7, 3, 64}).in, 147);
  EXPECT_EQ(ComputeFans({7, 7, 3, 64}).out, 49 * 64);
  EXPECT_EQ(ComputeFans({10, 20}).in, 10);
  EXPECT_EQ(ComputeFans({10, 20}).out, 20);
  EXPECT_EQ(ComputeFans({5}).in, 5);
  EXPECT_EQ(ComputeFans({}).in, 1);
}

}  // namespace
}  // namespace muster
