#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "compile/passes.h"

namespace muster {
namespace {

class Partitioner {
 public:
  explicit Partitioner(CompileGraph& graph) : graph_(graph) {}

  std::vector<ChannelSpec> Run() {
    DropFinalWaits();
    for (NodeId id : graph_.TopologicalOrder()) {
      for (size_t i = 0; i < graph_.node(id).inputs.size(); ++i)
        if (const Output value = graph_.node(id).inputs[i]; graph_.device(value.node) != graph_.device(id))
          graph_.SetInput(id, i, Received(value, id));
      for (size_t i = 0; i < graph_.node(id).control_inputs.size(); ++i)
        if (const NodeId control = graph_.node(id).control_inputs[i]; graph_.device(control) != graph_.device(id))
          graph_.SetControlInput(id, i, Received(Token(control), id).node);
    }
    return std::move(channels_);
  }

 private:
  // A NoOp that nothing waits for but others of its kind only names what must run: a step ends when all devices are
  // through with it, so nobody needs to tell the NoOp what is done elsewhere.
  void DropFinalWaits() {
    std::set<NodeId> awaited;
    const std::vector<NodeId> order = graph_.TopologicalOrder();
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const Node& node = graph_.node(*id);
      if (node.kind != OpKind::kNoOp || awaited.count(*id) > 0) {
        awaited.insert(node.control_inputs.begin(), node.control_inputs.end());
        continue;
      }
      const auto is_elsewhere = [&](NodeId control) { return graph_.device(control) != graph_.device(*id); };
      std::vector<NodeId> here;
      for (NodeId control : node.control_inputs)
        if (is_elsewhere(control)) graph_.AddTarget(control);
        else here.push_back(control);
      if (here.size() < node.control_inputs.size()) graph_.SetControlInputs(*id, std::move(here));
    }
  }

  // A constant is there from the start on every device that reads it.
  Output ConstantOn(int to, Output value, NodeId reader) {
    const NodeId copy =
        graph_.Add(OpKind::kConst, graph_.node(value.node).name, {}, graph_.node(value.node).attrs, reader);
    graph_.set_device(copy, to);
    return {copy, 0};
  }

  // The copy of a value on the reader's device: sent once, however many read it there.
  Output Received(Output value, NodeId reader) {
    const int to = graph_.device(reader);
    const std::vector<NodeId> after = graph_.ReadAfter(value, reader);
    Output& copy = received_[{value, to, after}];
    if (copy.is_valid()) return copy;
    if (graph_.node(value.node).kind == OpKind::kConst) return copy = ConstantOn(to, value, reader);
    const int channel = static_cast<int>(channels_.size());
    const std::string name = fmt::format("edge_{}_{}", channel, graph_.node(value.node).name);
    channels_.push_back({name, value.index, graph_.desc(value), graph_.device(value.node), to});
    const NodeId send =
        graph_.Add(OpKind::k_Send, name + "/send", {value}, ChannelAttrs{channel, {}}, value.node, false);
    for (NodeId control : after)
      graph_.AddControlInput(
          send, graph_.device(control) == graph_.device(send) ? control : Received(Token(control), send).node);
    const NodeId recv =
        graph_.Add(OpKind::k_Recv, name + "/recv", {}, ChannelAttrs{channel, graph_.desc(value)}, reader);
    graph_.set_device(recv, to);
    graph_.AddControlInput(recv, send);  // the one global order: a send comes before its receive
    return received_[{value, to, after}] = {recv, 0};
  }

  // A control edge to another device travels as a value: a scalar made when the node is done.
  Output Token(NodeId done) {
    Output& token = tokens_[done];
    if (!token.is_valid()) {
      const NodeId fill = graph_.Add(OpKind::kFill, graph_.node(done).name + "/done", {},
                                     FillAttrs{DType::kFloat32, Shape{}, 1}, done, false);
      graph_.SetControlInputs(fill, {done});
      token = {fill, 0};
    }
    return token;
  }

  CompileGraph& graph_;
  std::vector<ChannelSpec> channels_;
  std::map<std::tuple<Output, int, std::vector<NodeId>>, Output> received_;
  std::map<NodeId, Output> tokens_;
};

}  // namespace

std::vector<ChannelSpec> Partitioning(CompileGraph& graph) { return Partitioner(graph).Run(); }

}  // namespace muster
