#pragma once

#include "graph/op_def.h"
#include "muster/graph.h"

namespace muster {

// Which part of a training step a node belongs to.
enum Phase { kForward = 0, kBackward = 1, kUpdate = 2 };

// What Gradients() made, and what this compiler puts there, bears "gradients/" in its name.
inline int PhaseOf(const Node& node) {
  if (GetOpDef(node.kind).num_refs > 0) return kUpdate;
  return node.name.find("gradients/") != std::string::npos ? kBackward : kForward;
}

// Nodes whose values are there before a step begins, and nodes that only stand for an order.
inline bool IsSource(OpKind kind) {
  return kind == OpKind::kPlaceholder || kind == OpKind::kConst || kind == OpKind::kVariable || kind == OpKind::kNoOp;
}

}  // namespace muster
