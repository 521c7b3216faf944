#include "compile/placement_messages.h"

#include <algorithm>

#include <fmt/format.h>

namespace muster {
namespace {

constexpr size_t kMostMembersShown = 8;

// "Neg float32 b: GPU, CPU".
std::string MemberText(const Graph& graph, const Candidates& candidates, NodeId id) {
  const Node& node = graph.node(id);
  if (node.outputs.empty() && node.inputs.empty()) return fmt::format("{} {}: any", OpName(node.kind), node.name);
  return fmt::format("{} {} {}: {}", OpName(node.kind), DTypeName(KernelDTypeOf(graph, id)), node.name,
                     candidates.Types(candidates.SupportOf(graph, id)));
}

std::string MembersText(const Graph& graph, const Candidates& candidates, const std::vector<NodeId>& members) {
  std::string text;
  for (size_t i = 0; i < std::min(members.size(), kMostMembersShown); ++i)
    text += (i == 0 ? "" : "; ") + MemberText(graph, candidates, members[i]);
  if (members.size() > kMostMembersShown) text += fmt::format("; and {} more", members.size() - kMostMembersShown);
  return text;
}

// The first member that no device at all can run, or kNoNode.
NodeId Impossible(const Graph& graph, const Candidates& candidates, const std::vector<NodeId>& members) {
  for (NodeId id : members)
    if (candidates.First({}, candidates.SupportOf(graph, id)) < 0) return id;
  return kNoNode;
}

// The member that asks for what the group cannot have: the first whose own request matches no device, else the first
// with a request, else the first.
NodeId Blamed(const Graph& graph, const Candidates& candidates, const std::vector<NodeId>& members) {
  auto find = [&](auto test) { return std::find_if(members.begin(), members.end(), test); };
  auto it = find([&](NodeId id) { return !candidates.AnyMatches(graph.node(id).device); });
  if (it == members.end()) it = find([&](NodeId id) { return !graph.node(id).device.is_empty(); });
  return it == members.end() ? members.front() : *it;
}

}  // namespace

Error NoDeviceError(const Graph& graph, const Candidates& candidates, const std::vector<NodeId>& members,
                    const DeviceName& wanted) {
  if (const NodeId id = Impossible(graph, candidates, members); id != kNoNode)
    return Unimplemented(fmt::format("cannot place {}: no device has a kernel for {} {}; devices: {}",
                                     graph.node(id).name, OpName(graph.node(id).kind),
                                     DTypeName(KernelDTypeOf(graph, id)), candidates.Names()));
  const std::string name = graph.node(Blamed(graph, candidates, members)).name;
  const std::string support =
      fmt::format("{}: {}", members.size() == 1 ? "kernels" : "operations that share its device, with their kernels",
                  MembersText(graph, candidates, members));
  if (!candidates.AnyMatches(wanted))
    return InvalidArgument(
        fmt::format("cannot place {}: could not satisfy explicit device specification {}; devices: {}; {}", name,
                    wanted.ToString(), candidates.Names(), support));
  return InvalidArgument(
      fmt::format("cannot place {}: no device{} has kernels for all that must share it; devices: {}; {}", name,
                  wanted.is_empty() ? "" : " that matches " + wanted.ToString(), candidates.Names(), support));
}

SoftPlacement Moved(const Graph& graph, const Candidates& candidates, NodeId id, int device,
                    const std::vector<NodeId>& members) {
  const Node& node = graph.node(id);
  SoftPlacement moved{node.name, std::string(OpName(node.kind)), node.device.ToString(),
                      candidates.name(device).ToString(), ""};
  if (!candidates.AnyMatches(node.device)) {
    moved.reason = "no such device";
  } else if (candidates.First(node.device, candidates.SupportOf(graph, id)) < 0) {
    moved.reason = fmt::format("no kernel for {} there", DTypeName(KernelDTypeOf(graph, id)));
  } else {
    const auto owner = std::find_if(members.begin(), members.end(), [&](NodeId m) {
      return m != id && (graph.node(m).kind == OpKind::kVariable || members.size() == 2);
    });
    moved.reason =
        fmt::format("it shares its device with {}", graph.node(owner != members.end() ? *owner : members.front()).name);
  }
  return moved;
}

}  // namespace muster
