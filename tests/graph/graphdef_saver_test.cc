#include "graph/graphdef_saver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/proto/graph_def.pb.h"
#include "muster/ops.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

// Two copies of one variable and a counter; a scope "save" of the graph's own.
struct Copies {
  Copies() : scope(&graph) {
    ops::NoOp(scope.Named("save/mine"));
    first = Make("v0/w", DType::kFloat32);
    second = Make("v1/w", DType::kFloat32);
    step = Make("step", DType::kInt64);
  }
  Output Make(const char* name, DType dtype) {
    return ops::MakeVariable(scope, name, ops::Fill(scope, dtype, Shape{}, 0)).ref;
  }
  graphdef::GraphDef Nodes(const GraphDefSaver& saver) const {
    graphdef::GraphDef def;
    EXPECT_TRUE(def.ParseFromString(saver.nodes));
    return def;
  }

  Graph graph;
  Scope scope;
  Output first, second, step;
};

const graphdef::NodeDef& NodeNamed(const graphdef::GraphDef& def, const std::string& name) {
  for (const auto& node : def.node())
    if (node.name() == name) return node;
  ADD_FAILURE() << "no node " << name;
  return def.node(0);
}

std::vector<std::string> Inputs(const graphdef::NodeDef& node) { return {node.input().begin(), node.input().end()}; }

std::vector<std::string> StringsOf(const graphdef::NodeDef& node) {
  const auto& values = node.attr().at("value").tensor().string_val();
  return {values.begin(), values.end()};
}

TEST(GraphDefSaver, SavesEachNameOnceAndRestoresAllItsVariables) {
  const Copies copies;
  const GraphDefSaver saver =
      MakeGraphDefSaver(copies.graph, {{copies.first, "v0/w"}, {copies.second, "v0/w"}, {copies.step, "global_step"}});
  EXPECT_EQ(saver.filename, "save_1/Const:0");
  EXPECT_EQ(saver.save, "save_1/control_dependency:0");
  EXPECT_EQ(saver.restore, "save_1/restore_all");
  const graphdef::GraphDef def = copies.Nodes(saver);
  EXPECT_THAT(StringsOf(NodeNamed(def, "save_1/SaveV2/tensor_names")), ElementsAre("v0/w", "global_step"));
  EXPECT_THAT(StringsOf(NodeNamed(def, "save_1/RestoreV2/tensor_names")), ElementsAre("v0/w", "global_step"));
  EXPECT_THAT(StringsOf(NodeNamed(def, "save_1/RestoreV2/shape_and_slices")), ElementsAre("", ""));
  EXPECT_THAT(Inputs(NodeNamed(def, "save_1/SaveV2")), ElementsAre("save_1/Const", "save_1/SaveV2/tensor_names",
                                                                   "save_1/SaveV2/shape_and_slices", "v0/w", "step"));
  EXPECT_THAT(NodeNamed(def, "save_1/RestoreV2").attr().at("dtypes").list().type(),
              ElementsAre(graphdef::DT_FLOAT, graphdef::DT_INT64));
  EXPECT_THAT(Inputs(NodeNamed(def, "save_1/control_dependency")), ElementsAre("save_1/Const", "^save_1/SaveV2"));
  EXPECT_THAT(Inputs(NodeNamed(def, "save_1/restore_all")),
              ElementsAre("^save_1/Assign", "^save_1/Assign_1", "^save_1/Assign_2"));
  EXPECT_THAT(Inputs(NodeNamed(def, "save_1/Assign")), ElementsAre("v0/w", "save_1/RestoreV2"));
  EXPECT_THAT(Inputs(NodeNamed(def, "save_1/Assign_1")), ElementsAre("v1/w", "save_1/RestoreV2"));
  EXPECT_THAT(Inputs(NodeNamed(def, "save_1/Assign_2")), ElementsAre("step", "save_1/RestoreV2:1"));
  EXPECT_EQ(NodeNamed(def, "save_1/Assign_2").attr().at("T").type(), graphdef::DT_INT64);
}

TEST(GraphDefSaver, EveryVariableIsReadUnderAFreeName) {
  Copies copies;
  ops::NoOp(copies.scope.Named("v1/w/read"));
  const GraphDefSaver saver = MakeGraphDefSaver(copies.graph, {{copies.first, "w"}});
  EXPECT_THAT(saver.reads, ElementsAre("v0/w/read:0", "v1/w/read_:0", "step/read:0"));
  const graphdef::NodeDef read = NodeNamed(copies.Nodes(saver), "v1/w/read_");
  EXPECT_EQ(read.op(), "Identity");
  EXPECT_THAT(Inputs(read), ElementsAre("v1/w"));
  EXPECT_THAT(read.attr().at("_class").list().s(), ElementsAre("loc:@v1/w"));
}

}  // namespace
}  // namespace muster
