#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <set>
#include <sstream>

#include "base/hash.h"
#include "muster/graph_export.h"
#include "muster/ops.h"
#include "tests/graph/every_op.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// A small net with a variable, a device, a control input and a second output in use.
struct Net {
  double rate = 0.5;
  std::string device = "/device:CPU:0";
  std::string name = "x";
  int64_t width = 4;
  bool trainable = true;
  int64_t seed = 87654321;
  int64_t random_seed = 7;
  bool control = true;
  bool transpose = false;
  bool swap = false;
  bool colocate = true;
  int output_used = 1;
  float constant = 2;
  bool update_op = false;
  DType type = DType::kFloat32;

  Graph Build() const {
    Graph graph;
    graph.set_seed(seed);
    const Scope scope = Scope(&graph).WithDevice(device);
    const Output x = ops::Placeholder(scope.Named(name), type, Shape{width, width});
    const Variable w = ops::MakeVariable(scope, "w", ops::Fill(scope, type, Shape{width, width}, rate), trainable);
    const Output noise = ops::RandomUniform(scope, type, Shape{width, width}, random_seed);
    const Scope inner = scope.WithName("layer");
    const Output y = ops::MatMul(inner, swap ? Output(w) : x, swap ? x : Output(w), transpose);
    const NodeId top = inner.AddNode(OpKind::kTopK, {ops::Add(inner, y, noise)}, TopKAttrs{2});
    Scope last = control ? inner.WithControlDependencies({w.initializer}) : inner;
    if (colocate) last = last.ColocatedWith(y.node);
    ops::Identity(last, {top, output_used});
    ops::Const(scope.Named("c"), Tensor::Scalar(constant));
    if (update_op) graph.AddUpdateOp(y.node);
    return graph;
  }
};

TEST(GraphText, HasASummaryAndALinePerNode) {
  const Graph graph = Net().Build();
  const auto lines = Lines(GraphToText(graph));
  ASSERT_EQ(lines.size(), static_cast<size_t>(graph.num_nodes()) + 1);
  EXPECT_THAT(lines[0],
              StartsWith("# 10 nodes, 1 variables with 16 values (16 trainable), seed 87654321, fingerprint "));
  EXPECT_EQ(lines[1], "x = Placeholder() {dtype=float32 shape=[4,4]} : float32[4,4] @/device:CPU:0");
  EXPECT_EQ(lines[6], "layer/MatMul = MatMul(x, w) : float32[4,4] @/device:CPU:0");
  EXPECT_EQ(lines[8], "layer/TopK = TopK(layer/Add) {k=2} : float32[4,2], int32[4,2] @/device:CPU:0");
  EXPECT_THAT(lines[9],
              StartsWith("layer/Identity = Identity(layer/TopK:1, ^w/Assign) : int32[4,2] with layer/MatMul"));
}

TEST(GraphText, ShowsSmallConstantsAndNamesLargeOnesByAHash) {
  Graph graph;
  const Scope scope(&graph);
  ops::Const(scope, Tensor::Of<float>(Shape{3}, {1, 2.5f, -3}));
  ops::Const(scope, Tensor(DType::kFloat32, Shape{100}));
  const auto lines = Lines(GraphToText(graph));
  EXPECT_EQ(lines[1], "Const = Const() {value=[1,2.5,-3]} : float32[3]");
  EXPECT_THAT(lines[2], HasSubstr("{value=<400 bytes, hash "));
}

// What Graphviz's grammar asks for here: one statement per line, blocks that open and close.
struct Dot {
  std::set<std::string> nodes;
  std::multiset<std::string> edges;
  int dashed = 0, clusters = 0, depth = 0, deepest = 0;
};

Dot ParseDot(const std::string& text) {
  const std::string quoted = R"("(?:[^"\\]|\\.)*")";
  const std::regex node(R"(\s*(n\d+) \[label=)" + quoted + R"( fillcolor=\w+( shape=ellipse)? tooltip=)" + quoted +
                        R"(\];)");
  const std::regex edge(R"(\s*(n\d+ -> n\d+) \[(label=)" + quoted + R"(|style=dashed)\];)");
  const std::regex open(R"(\s*(digraph muster|subgraph cluster_\d+) \{)"), close(R"(\s*\})");
  const std::regex other(R"(\s*(label=)" + quoted + R"(|(node|edge) \[.*\]);)");
  Dot dot;
  std::smatch match;
  for (const std::string& line : Lines(text)) {
    if (std::regex_match(line, match, node)) {
      dot.nodes.insert(match[1]);
    } else if (std::regex_match(line, match, edge)) {
      dot.edges.insert(match[1]);
      dot.dashed += match[2] == "style=dashed" ? 1 : 0;
    } else if (std::regex_match(line, match, open)) {
      dot.clusters += match[1] == "digraph muster" ? 0 : 1;
      dot.deepest = std::max(dot.deepest, ++dot.depth);
    } else if (std::regex_match(line, close)) {
      --dot.depth;
    } else {
      EXPECT_TRUE(std::regex_match(line, other)) << line;
    }
  }
  EXPECT_EQ(dot.depth, 0);
  return dot;
}

TEST(GraphDot, HasEveryNodeEdgeAndScope) {
  const Graph graph = Net().Build();
  const Dot dot = ParseDot(GraphToDot(graph));
  EXPECT_EQ(dot.nodes.size(), static_cast<size_t>(graph.num_nodes()));
  size_t edges = 0;
  for (NodeId id = 0; id < graph.num_nodes(); ++id)
    edges += graph.node(id).inputs.size() + graph.node(id).control_inputs.size();
  EXPECT_EQ(dot.edges.size(), edges);
  EXPECT_EQ(dot.dashed, 1);
  EXPECT_EQ(dot.clusters, 2);  // "layer", and "w" of w/Assign
  EXPECT_EQ(dot.deepest, 2);
}

TEST(GraphDot, EveryKindOfOperationGivesWellFormedLines) {
  const Graph graph = EveryOpGraph();
  EXPECT_EQ(ParseDot(GraphToDot(graph)).nodes.size(), static_cast<size_t>(graph.num_nodes()));
}

TEST(GraphDot, EdgesCarryShapesAndDevicesHaveColours) {
  Net net;
  net.colocate = false;
  const std::string dot = GraphToDot(net.Build());
  EXPECT_THAT(dot, HasSubstr("[label=\"float32[4,4]\"]"));
  EXPECT_THAT(dot, HasSubstr("n7 [label=\"TopK\\nTopK\" fillcolor=lightblue"));
  EXPECT_THAT(dot,
              HasSubstr("n3 [label=\"Assign\\nAssign\" fillcolor=white"));  // beside its variable, wherever that is
}

TEST(GraphFingerprint, IsEqualForEqualConstructions) {
  EXPECT_EQ(GraphFingerprint(Net().Build()), GraphFingerprint(Net().Build()));
  EXPECT_EQ(GraphFingerprint(EveryOpGraph()), GraphFingerprint(EveryOpGraph()));
}

TEST(GraphFingerprint, DiffersAfterAnyChange) {
  const std::vector<std::function<void(Net&)>> changes = {
      [](Net&) {},
      [](Net& n) { n.rate = 0.25; },
      [](Net& n) { n.device = "/device:CPU:1"; },
      [](Net& n) { n.device = ""; },
      [](Net& n) { n.name = "y"; },
      [](Net& n) { n.width = 5; },
      [](Net& n) { n.trainable = false; },
      [](Net& n) { n.seed = 1; },
      [](Net& n) { n.random_seed = 8; },
      [](Net& n) { n.control = false; },
      [](Net& n) { n.transpose = true; },
      [](Net& n) { n.swap = true; },
      [](Net& n) { n.colocate = false; },
      [](Net& n) { n.output_used = 0; },
      [](Net& n) { n.constant = 3; },
      [](Net& n) { n.update_op = true; },
      [](Net& n) { n.type = DType::kFloat64; },
  };
  std::set<uint64_t> seen;
  for (size_t i = 0; i < changes.size(); ++i) {
    Net net;
    changes[i](net);
    EXPECT_TRUE(seen.insert(GraphFingerprint(net.Build())).second) << "change " << i;
  }
}

TEST(StableHash, MixesAsSplitMix64AndSeparatesTexts) {
  StableHash hash;
  hash.Add(uint64_t{0});
  EXPECT_EQ(hash.value(), 0xE220A8397B1DCDAF);  // the first number of SplitMix64 with seed 0
  const auto of = [](std::vector<std::string_view> texts) {
    StableHash all;
    for (const std::string_view text : texts) all.Add(text);
    return all.value();
  };
  EXPECT_NE(of({"ab", "c"}), of({"a", "bc"}));
  EXPECT_NE(of({"abcdefgh"}), of({"abcdefgi"}));
  EXPECT_NE(of({std::string_view("a\0", 2)}), of({"a"}));
}

}  // namespace
}  // namespace muster
