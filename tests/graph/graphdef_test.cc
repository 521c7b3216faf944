#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "graph/proto/graph_def.pb.h"
#include "muster/graph_export.h"
#include "muster/ops.h"
#include "tests/graph/every_op.h"

namespace muster {
namespace {

using google::protobuf::TextFormat;
using google::protobuf::util::MessageDifferencer;

std::string ReadData(const std::string& name) {
  std::ifstream file(MUSTER_SOURCE_DIR "/tests/data/graphdef/" + name, std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

graphdef::GraphDef Parse(const Graph& graph) {
  graphdef::GraphDef def;
  EXPECT_TRUE(def.ParseFromString(GraphToGraphDef(graph)));
  return def;
}

const graphdef::NodeDef& NodeNamed(const graphdef::GraphDef& def, const std::string& name) {
  for (const auto& node : def.node())
    if (node.name() == name) return node;
  ADD_FAILURE() << "no node " << name;
  return def.node(0);
}

std::vector<std::string> Inputs(const graphdef::NodeDef& node) { return {node.input().begin(), node.input().end()}; }

// Fields that our messages do not know, at any depth.
bool HasUnknownFields(const google::protobuf::Message& message) {
  const auto* reflection = message.GetReflection();
  if (reflection->GetUnknownFields(message).field_count() > 0) return true;
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const auto* field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      if (HasUnknownFields(reflection->GetMessage(message, field))) return true;
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(message, field); ++i)
      if (HasUnknownFields(reflection->GetRepeatedMessage(message, field, i))) return true;
  }
  return false;
}

TEST(GraphDefMessages, ReadTensorFlowsBinaryAndTextAsTheSameGraphWithoutUnknownFields) {
  graphdef::GraphDef binary, text;
  ASSERT_TRUE(binary.ParseFromString(ReadData("two_towers.pb")));
  ASSERT_TRUE(TextFormat::ParseFromString(ReadData("two_towers.pbtxt"), &text));
  EXPECT_FALSE(HasUnknownFields(binary));
  EXPECT_TRUE(MessageDifferencer::Equals(binary, text));
  EXPECT_EQ(NodeNamed(binary, "v/cg/affine0/weights").op(), "VariableV2");
  EXPECT_EQ(binary.SerializeAsString().size(), ReadData("two_towers.pb").size());
}

TEST(GraphDef, TheBytesOfAGraphWithOneNoOpAreThoseOfTheFormat) {
  Graph graph;
  ops::NoOp(Scope(&graph).Named("a"));
  // node (1): name (1) "a", op (2) "NoOp"; versions (4): producer (1) 134
  EXPECT_EQ(GraphToGraphDef(graph), std::string("\x0A\x09\x0A\x01"
                                                "a\x12\x04NoOp\x22\x03\x08\x86\x01"));
}

TEST(GraphDef, TextAndBinaryAreTheSameGraph) {
  const Graph graph = EveryOpGraph();
  graphdef::GraphDef text;
  ASSERT_TRUE(TextFormat::ParseFromString(GraphToGraphDefText(graph), &text));
  EXPECT_TRUE(MessageDifferencer::Equals(text, Parse(graph)));
}

TEST(GraphDef, TheTestGraphHasEveryKindOfOperation) {
  const Graph graph = EveryOpGraph();
  std::set<OpKind> kinds;
  for (NodeId id = 0; id < graph.num_nodes(); ++id) kinds.insert(graph.node(id).kind);
  for (size_t kind = 0; kind < kNumOpKinds; ++kind) {
    if (kOpNames[kind].front() == '_') continue;  // the compiler's own: all written by one rule
    EXPECT_TRUE(kinds.count(static_cast<OpKind>(kind)) > 0) << kOpNames[kind];
  }
}

TEST(GraphDef, NodesAreUniqueAndInputsExistBeforeTheyAreUsed) {
  std::set<std::string> seen;
  const auto def = Parse(EveryOpGraph());
  for (const auto& node : def.node()) {
    for (std::string input : Inputs(node)) {
      if (input.front() == '^') input.erase(0, 1);
      EXPECT_TRUE(seen.count(input.substr(0, input.find(':'))) > 0) << node.name() << " uses " << input;
    }
    EXPECT_TRUE(seen.insert(node.name()).second) << node.name() << " twice";
  }
}

const char* TypeOf(const graphdef::AttrValue& value) {
  using Case = graphdef::AttrValue;
  switch (value.value_case()) {
    case Case::kS: return "string";
    case Case::kI: return "int";
    case Case::kF: return "float";
    case Case::kB: return "bool";
    case Case::kType: return "type";
    case Case::kShape: return "shape";
    case Case::kTensor: return "tensor";
    case Case::kList:
      if (value.list().s_size() > 0) return "list(string)";
      return "list(int)";
    default: return "nothing";
  }
}

// Arguments and attributes against TensorFlow's own table.
void CheckSignature(const graphdef::NodeDef& node, const nlohmann::json& signature) {
  int64_t expected = 0;
  for (const std::string argument : signature["inputs"]) expected += argument == "1" ? 1 : node.attr().at(argument).i();
  const auto inputs = Inputs(node);
  EXPECT_EQ(std::count_if(inputs.begin(), inputs.end(), [](const std::string& i) { return i.front() != '^'; }),
            expected)
      << node.name();
  for (const auto& [name, value] : node.attr()) {
    if (name.front() == '_') continue;
    ASSERT_TRUE(signature["attrs"].contains(name)) << node.op() << " has no attribute " << name;
    EXPECT_EQ(signature["attrs"][name][0], TypeOf(value)) << node.op() << " " << name;
  }
  for (const auto& [name, attr] : signature["attrs"].items())
    EXPECT_TRUE(attr[1] == false || node.attr().contains(name)) << node.op() << " needs " << name;
}

TEST(GraphDef, EveryOperationHasTheArgumentsAndAttributesThatTensorFlowDeclares) {
  const auto table = nlohmann::json::parse(ReadData("tf_op_signatures.json"));
  const auto def = Parse(EveryOpGraph());
  for (const auto& node : def.node()) {
    if (node.op().front() == '_') continue;
    ASSERT_TRUE(table.contains(node.op())) << node.op() << " is not an operation of TensorFlow";
    CheckSignature(node, table[node.op()]);
  }
}

TEST(GraphDef, ShapesThatAreInputsInTensorFlowBecomeConstants) {
  Graph graph;
  const Scope scope = Scope(&graph).WithDevice("/device:GPU:1");
  const Output x = ops::Placeholder(scope.Named("x"), DType::kFloat32, Shape{2, 6});
  ops::Sum(scope, ops::Reshape(scope, x, {3, -1}), {1}, true);
  const auto def = Parse(graph);
  EXPECT_EQ(Inputs(NodeNamed(def, "Reshape")), (std::vector<std::string>{"x", "Reshape/shape"}));
  const auto& shape = NodeNamed(def, "Reshape/shape");
  EXPECT_EQ(shape.op(), "Const");
  EXPECT_EQ(shape.device(), "/device:GPU:1");
  const int32_t dims[] = {3, 4};
  EXPECT_EQ(shape.attr().at("value").tensor().tensor_content(), std::string(reinterpret_cast<const char*>(dims), 8));
  EXPECT_EQ(Inputs(NodeNamed(def, "Sum"))[1], "Sum/reduction_indices");
  EXPECT_TRUE(NodeNamed(def, "Sum").attr().at("keep_dims").b());
}

TEST(GraphDef, AConstantsNameDoesNotCollideWithANodeOfTheGraph) {
  Graph graph;
  const Scope scope(&graph);
  const Output x = ops::Placeholder(scope, DType::kFloat32, Shape{6});
  ops::Identity(scope.Named("Reshape/shape"), x);
  ops::Reshape(scope, x, {2, 3});
  EXPECT_EQ(Inputs(NodeNamed(Parse(graph), "Reshape"))[1], "Reshape/shape_");
}

TEST(GraphDef, GradientsTakeTheShapeOfWhatTheyProduceAsAnInput) {
  const auto def = Parse(EveryOpGraph());
  const std::string prefix = "nhwc/gradients/Conv2D_grad/";
  EXPECT_EQ(Inputs(NodeNamed(def, prefix + "Conv2DBackpropInput"))[0], prefix + "Conv2DBackpropInput/input_sizes");
  EXPECT_EQ(Inputs(NodeNamed(def, prefix + "Conv2DBackpropFilter"))[1], prefix + "Conv2DBackpropFilter/filter_sizes");
}

TEST(GraphDef, StridesAndPaddingsFollowTheDataFormat) {
  const auto def = Parse(EveryOpGraph());
  const auto ints = [&](const char* node, const char* attr) {
    const auto& list = NodeNamed(def, node).attr().at(attr).list().i();
    return std::vector<int64_t>(list.begin(), list.end());
  };
  EXPECT_EQ(ints("nhwc/Conv2D", "strides"), (std::vector<int64_t>{1, 2, 1, 1}));
  EXPECT_EQ(ints("nchw/Conv2D", "strides"), (std::vector<int64_t>{1, 1, 2, 1}));
  EXPECT_EQ(ints("nhwc/Conv2D_1", "explicit_paddings"), (std::vector<int64_t>{0, 0, 1, 0, 2, 1, 0, 0}));
  EXPECT_EQ(ints("nchw/Conv2D_1", "explicit_paddings"), (std::vector<int64_t>{0, 0, 0, 0, 1, 0, 2, 1}));
}

TEST(GraphDef, DevicesControlInputsColocationAndShapesAreWritten) {
  Graph graph;
  const Scope scope = Scope(&graph).WithDevice("/job:ps/task:1/cpu:0");
  const Output zeros = ops::Fill(scope.Named("zeros"), DType::kFloat32, Shape{3}, 0);
  const Variable w = ops::MakeVariable(scope.WithVariableScope("v"), "w", zeros);
  ops::Identity(scope.Named("read").WithControlDependencies({w.initializer}), w);
  const auto def = Parse(graph);
  EXPECT_EQ(NodeNamed(def, "v/w").device(), "/job:ps/task:1/device:CPU:0");
  EXPECT_EQ(NodeNamed(def, "v/w/Assign").attr().at("_class").list().s(0), "loc:@v/w");
  EXPECT_EQ(Inputs(NodeNamed(def, "read")), (std::vector<std::string>{"v/w", "^v/w/Assign"}));
  EXPECT_EQ(NodeNamed(def, "read").attr().at("_output_shapes").list().shape(0).dim(0).size(), 3);
}

}  // namespace
}  // namespace muster
