#include <map>

#include <fmt/format.h>

#include "compile/passes.h"

namespace muster {

std::vector<ChannelSpec> Partitioning(CompileGraph& graph, const CompileRequest& request) {
  std::vector<ChannelSpec> channels;
  std::map<std::pair<Output, int>, Output> received;  // (value, destination device) -> its copy there
  for (NodeId id : graph.TopologicalOrder()) {
    const int to = graph.device(id);
    for (size_t i = 0; i < graph.node(id).inputs.size(); ++i) {
      const Output value = graph.node(id).inputs[i];
      const int from = graph.device(value.node);
      if (from == to) continue;
      auto [it, is_new] = received.emplace(std::pair{value, to}, Output{});
      if (is_new) {
        const int channel = static_cast<int>(channels.size());
        const std::string name = fmt::format("edge_{}_{}", channel, graph.node(value.node).name);
        channels.push_back({name, graph.desc(value), from, to});
        const NodeId send = graph.Add(OpKind::k_Send, name + "/send", {value}, ChannelAttrs{channel, {}}, value.node, false);
        const NodeId recv = graph.Add(OpKind::k_Recv, name + "/recv", {}, ChannelAttrs{channel, graph.desc(value)}, id);
        graph.set_device(recv, to);
        graph.mutable_node(recv).control_inputs.push_back(send);  // the one global order: a send comes before its receive
        it->second = {recv, 0};
      }
      graph.mutable_node(id).inputs[i] = it->second;
    }
  }
  return channels;
}

}  // namespace muster
