#include "muster/graph.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "graph/op_def.h"
#include "muster/error.h"

namespace muster {
namespace {

std::string DescribeInputs(const Graph& graph, const Node& node) {
  std::string text;
  for (const Output& input : node.inputs)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", graph.node(input.node).name, graph.desc(input).ToString());
  return text;
}

bool Exists(const Graph& graph, Output output) {
  return output.node >= 0 && output.node < graph.num_nodes() && output.index >= 0 &&
         output.index < static_cast<int>(graph.node(output.node).outputs.size());
}

void CheckInputs(const Graph& graph, const Node& node, const OpDef& def) {
  const int count = static_cast<int>(node.inputs.size());
  if (count < def.min_inputs || (def.max_inputs >= 0 && count > def.max_inputs))
    throw InvalidArgument(
        fmt::format("{} {}: takes {} inputs, got {}", OpName(node.kind), node.name, def.min_inputs, count));
  for (const Output& input : node.inputs)
    if (!Exists(graph, input))
      throw InvalidArgument(
          fmt::format("{} {}: an input is not an output of this graph", OpName(node.kind), node.name));
  for (int i = 0; i < def.num_refs; ++i) {
    const Node& ref = graph.node(node.inputs[static_cast<size_t>(i)].node);
    if (ref.kind != OpKind::kVariable)
      throw InvalidArgument(
          fmt::format("{} {}: input {} must be a variable, not {}", OpName(node.kind), node.name, i, ref.name));
  }
}

}  // namespace

NodeId Graph::Add(Node node) {
  ThrowIfInterrupted();
  const OpDef& def = GetOpDef(node.kind);
  CheckInputs(*this, node, def);
  ShapeContext context{node, {}};
  for (const Output& input : node.inputs) context.inputs.push_back(desc(input));
  try {
    node.outputs = def.shape_rule(context);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{} {}: {} (inputs: {})", OpName(node.kind), node.name, error.message(),
                                          DescribeInputs(*this, node)));
  }
  node.id = num_nodes();
  if (!by_name_.emplace(node.name, node.id).second)
    throw Error(Code::kAlreadyExists, fmt::format("the graph already has a node named {}", node.name));
  nodes_.push_back(std::move(node));
  return num_nodes() - 1;
}

void Graph::CheckExists(Output output) const {
  if (!Exists(*this, output))
    throw InvalidArgument(fmt::format("output {} of node {} does not exist: the graph has {} nodes", output.index,
                                      output.node, num_nodes()));
}

NodeId Graph::Find(const std::string& name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() ? kNoNode : it->second;
}

std::string Graph::UniqueName(const std::string& name) {
  int& count = name_counts_[name];
  std::string candidate = count == 0 ? name : fmt::format("{}_{}", name, count);
  ++count;
  while (by_name_.count(candidate) > 0) candidate = fmt::format("{}_{}", name, count++);
  if (candidate != name) name_counts_.emplace(candidate, 1);
  return candidate;
}

void Graph::AddVariable(VariableInfo info) {
  variable_at_.emplace(info.ref.node, variables_.size());
  variables_.push_back(std::move(info));
}

const VariableInfo* Graph::FindVariable(NodeId node) const {
  const auto found = variable_at_.find(node);
  return found == variable_at_.end() ? nullptr : &variables_[found->second];
}

}  // namespace muster
