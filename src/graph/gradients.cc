#include "muster/gradients.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include <fmt/format.h>

#include "graph/op_def.h"
#include "muster/ops/math.h"
#include "muster/ops/state.h"

namespace muster {
namespace {

// What y is computed from, y included, in ascending order.
std::vector<NodeId> AncestorsOf(const Graph& graph, NodeId y) {
  std::unordered_set<NodeId> seen{y};
  std::vector<NodeId> ancestors{y};
  for (size_t next = 0; next < ancestors.size(); ++next)
    for (const Output& input : graph.node(ancestors[next]).inputs)
      if (seen.insert(input.node).second) ancestors.push_back(input.node);
  std::sort(ancestors.begin(), ancestors.end());
  return ancestors;
}

// The nodes that lie between some x and y. Only those behind y are looked at: the graph may hold many other towers.
class Between {
 public:
  Between(const Graph& graph, const std::vector<Output>& xs, NodeId y) {
    for (const Output& x : xs) reachable_.insert(x.node);
    for (NodeId id : AncestorsOf(graph, y)) {
      const std::vector<Output>& inputs = graph.node(id).inputs;
      if (std::any_of(inputs.begin(), inputs.end(), [&](Output input) { return Has(input.node); }))
        reachable_.insert(id);
      if (Has(id)) nodes_.push_back(id);
    }
  }

  bool Has(NodeId id) const { return reachable_.count(id) > 0; }
  const std::vector<NodeId>& nodes() const { return nodes_; }  // ascending

 private:
  std::unordered_set<NodeId> reachable_;
  std::vector<NodeId> nodes_;
};

// Collects the gradients that arrive at each output and adds them up when they are asked for.
class Accumulator {
 public:
  Accumulator(const Scope& scope) : scope_(scope) {}

  void Add(Output of, Output gradient) { parts_[of].push_back(gradient); }

  Output Total(Output of) {
    auto it = parts_.find(of);
    if (it == parts_.end()) return {};
    std::vector<Output>& parts = it->second;
    if (parts.size() > 1)
      parts = {ops::AddN(scope_.WithDevice(scope_.graph()->node(of.node).device.ToString()), parts)};
    return parts[0];
  }

 private:
  const Scope& scope_;
  std::map<Output, std::vector<Output>> parts_;
};

std::vector<Output> Differentiate(const Scope& scope, const Node& node, const std::vector<Output>& dy) {
  const OpDef& def = GetOpDef(node.kind);
  if (def.gradient == nullptr)
    throw Unimplemented(fmt::format("{} {} has no gradient, but a variable's gradient passes through it",
                                    OpName(node.kind), node.name));
  const size_t slash = node.name.rfind('/');
  const std::string leaf = slash == std::string::npos ? node.name : node.name.substr(slash + 1);
  Scope inner = scope.WithName(leaf + "_grad").WithDevice(node.device.ToString());
  return def.gradient(GradientContext{inner, node, dy});
}

bool AnyFloating(const Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(), [](const TensorDesc& d) { return IsFloating(d.dtype); });
}

}  // namespace

std::vector<Output> Gradients(const Scope& outer, Output y, const std::vector<Output>& xs, Output grad_y) {
  const Graph& graph = *outer.graph();
  graph.CheckExists(y);
  for (Output x : xs) graph.CheckExists(x);
  Scope scope = outer.WithName("gradients");
  const Between between(graph, xs, y.node);
  Accumulator total(scope);
  total.Add(y, grad_y.is_valid() ? grad_y : ops::Fill(scope, graph.dtype(y), graph.shape(y), 1));

  for (auto it = between.nodes().rbegin(); it != between.nodes().rend(); ++it) {
    const NodeId id = *it;
    const Node& node = graph.node(id);  // stays where it is while the graph grows
    const bool leads_on =
        std::any_of(node.inputs.begin(), node.inputs.end(), [&](Output input) { return between.Has(input.node); });
    if (!leads_on || !AnyFloating(node)) continue;
    std::vector<Output> dy;
    for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i) dy.push_back(total.Total({id, i}));
    if (std::none_of(dy.begin(), dy.end(), [](Output o) { return o.is_valid(); })) continue;
    const std::vector<Output> dx = Differentiate(scope, node, dy);
    for (size_t i = 0; i < dx.size(); ++i)
      if (dx[i].is_valid() && between.Has(node.inputs[i].node)) total.Add(node.inputs[i], dx[i]);
  }

  std::vector<Output> result;
  for (const Output& x : xs) result.push_back(total.Total(x));
  return result;
}

}  // namespace muster
