#pragma once

#include <string_view>

#include "graph/op_def.h"
#include "muster/graph.h"

namespace muster {

// Which part of a training step a node belongs to.
enum Phase { kForward = 0, kBackward = 1, kUpdate = 2 };

// Whether a name scope of this name is that of a Gradients(): "gradients", or "gradients_2" for a later call.
inline bool IsGradientScope(std::string_view scope) {
  constexpr std::string_view kName = "gradients";
  if (!scope.starts_with(kName)) return false;
  scope.remove_prefix(kName.size());
  return scope.empty() ||
         (scope.size() > 1 && scope[0] == '_' && scope.find_first_not_of("0123456789", 1) == scope.npos);
}

// What Gradients() made, and what this compiler puts there, lies in a scope of that name.
inline int PhaseOf(const Node& node) {
  if (GetOpDef(node.kind).num_refs > 0) return kUpdate;
  const std::string_view name = node.name;
  for (size_t begin = 0, end = name.find('/'); end != name.npos; begin = end + 1, end = name.find('/', begin))
    if (IsGradientScope(name.substr(begin, end - begin))) return kBackward;
  return kForward;
}

// Nodes whose values are there before a step begins, and nodes that only stand for an order.
inline bool IsSource(OpKind kind) {
  return kind == OpKind::kPlaceholder || kind == OpKind::kConst || kind == OpKind::kVariable || kind == OpKind::kNoOp;
}

}  // namespace muster
