#include "graph/conditional.h"

#include <fmt/format.h>

#include "graph/op_def.h"
#include "muster/error.h"

namespace muster {

bool IsConditional(const Graph& graph, const Node& node) {
  const size_t num_refs = static_cast<size_t>(GetOpDef(node.kind).num_refs);
  return num_refs > 0 && node.inputs.size() > num_refs + 1 && graph.dtype(node.inputs.back()) == DType::kBool;
}

void MakeConditional(Graph* graph, NodeId update, Output condition) {
  graph->CheckExists(condition);
  Node& node = graph->mutable_node(update);
  if (GetOpDef(node.kind).num_refs == 0)
    throw InvalidArgument(fmt::format("{} {} updates no variable", OpName(node.kind), node.name));
  if (graph->desc(condition).shape.rank() != 0 || graph->dtype(condition) != DType::kBool)
    throw InvalidArgument(
        fmt::format("the condition of {} must be a bool scalar, not {}", node.name, graph->desc(condition).ToString()));
  if (condition.node > update)
    throw InvalidArgument(fmt::format("the condition of {} must exist before it", node.name));
  if (IsConditional(*graph, node)) throw InvalidArgument(fmt::format("{} has a condition already", node.name));
  node.inputs.push_back(condition);
}

}  // namespace muster
