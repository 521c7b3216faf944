// The compiler's copy of a graph: who reads what stays known while edges change, and a change costs what it moves.

#include "compile/compile_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "muster/ops.h"

namespace muster {
namespace {

// What CompileGraph would say without an index.
std::vector<Use> ReadersFoundBySearch(const CompileGraph& graph, Output value) {
  std::vector<Use> readers;
  for (NodeId id = 0; id < graph.size(); ++id)
    for (size_t i = 0; graph.is_live(id) && i < graph.node(id).inputs.size(); ++i)
      if (graph.node(id).inputs[i] == value) readers.push_back({id, static_cast<int>(i)});
  return readers;
}

void ExpectIndexIsTrue(const CompileGraph& graph) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    for (int o = 0; o < static_cast<int>(graph.node(id).outputs.size()); ++o)
      EXPECT_EQ(graph.Readers({id, o}), ReadersFoundBySearch(graph, {id, o}));
    bool is_awaited = false;
    for (NodeId other = 0; other < graph.size(); ++other) {
      const std::vector<NodeId>& controls = graph.node(other).control_inputs;
      is_awaited |= graph.is_live(other) && std::find(controls.begin(), controls.end(), id) != controls.end();
    }
    EXPECT_EQ(graph.IsAwaited(id), is_awaited) << id;
  }
}

// "values" placeholders, each read by "readers" negations, all of them targets.
struct Fan {
  Fan(int values, int readers) {
    const Scope root(&graph);
    for (int v = 0; v < values; ++v) {
      feeds.push_back(ops::Placeholder(root, DType::kFloat32, Shape{2}));
      for (int r = 0; r < readers; ++r) targets.push_back(ops::Neg(root, feeds.back()).node);
    }
  }
  CompileGraph Copy() const { return CompileGraph(graph, feeds, {}, targets); }

  Graph graph;
  std::vector<Output> feeds;
  std::vector<NodeId> targets;
};

}  // namespace

TEST(CompileGraphUses, StayTrueThroughRandomChanges) {
  CompileGraph graph = Fan(5, 6).Copy();
  std::mt19937 random(7);
  const auto pick = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  for (int change = 0; change < 300; ++change) {
    const NodeId reader = 5 + pick(30), other = 5 + pick(30);
    if (!graph.is_live(reader) || !graph.is_live(other) || reader == other) continue;
    switch (pick(7)) {
      case 0: graph.SetInput(reader, 0, {pick(5), 0}); break;
      case 1: graph.ReplaceUses({pick(5), 0}, {pick(5), 0}); break;
      case 2: graph.AddControlInput(std::max(reader, other), std::min(reader, other)); break;
      case 3: graph.MoveControlUses(other, reader); break;
      case 4: graph.SetControlInputs(reader, {pick(5)}); break;
      case 5: graph.Add(OpKind::kNeg, "more", {{pick(5), 0}}, NoAttrs{}, reader); break;
      case 6:
        if (pick(8) == 0) graph.Remove(reader);
        break;
    }
  }
  ExpectIndexIsTrue(graph);
  CompileGraph copy = graph;
  copy.ReplaceUses({0, 0}, {1, 0});
  ExpectIndexIsTrue(copy);
  ExpectIndexIsTrue(graph);
}

TEST(CompileGraphUses, FollowFetchesAndTargets) {
  Graph graph;
  const Scope root(&graph);
  const Output x = ops::Placeholder(root, DType::kFloat32, Shape{2}), y = ops::Neg(root, x), z = ops::Square(root, x);
  CompileGraph copy(graph, {x}, {y, z, y}, {y.node, z.node, y.node});
  const Output first = copy.fetches()[0], second = copy.fetches()[1];
  copy.ReplaceUses(first, second);
  copy.MoveControlUses(first.node, second.node);
  EXPECT_EQ(copy.fetches(), (std::vector<Output>{second, second, second}));
  EXPECT_EQ(copy.targets(), (std::vector<NodeId>(3, second.node)));
  EXPECT_FALSE(copy.IsFetched(first));
  EXPECT_TRUE(copy.IsFetched(second));
}

// A change of one value's readers looks at these and nothing else, whether the graph has 10 other values or 1,000.
TEST(CompileGraphUses, AChangeCostsWhatItMoves) {
  constexpr int kReaders = 7;
  for (int values : {10, 1000}) {
    CompileGraph graph = Fan(values, kReaders).Copy();
    int64_t before = graph.work();
    graph.ReplaceUses({0, 0}, {1, 0});
    EXPECT_EQ(graph.work() - before, kReaders);
    before = graph.work();
    EXPECT_EQ(graph.Readers({1, 0}).size(), 2 * kReaders);
    EXPECT_EQ(graph.work() - before, 1 + 2 * kReaders);
    before = graph.work();
    graph.Remove(values);  // the first reader: itself and its one edge
    EXPECT_EQ(graph.work() - before, 2);
  }
}

}  // namespace muster
