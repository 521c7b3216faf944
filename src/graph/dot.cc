#include <fmt/format.h>

#include <array>
#include <map>
#include <memory>

#include "muster/graph_export.h"

namespace muster {
namespace {

// A name scope: its nodes, and the scopes within it by their last name part.
struct NameScope {
  std::vector<NodeId> nodes;
  std::map<std::string, std::unique_ptr<NameScope>> scopes;
};

// Text inside double quotes.
std::string Quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + "\"";
}

void Insert(NameScope* root, const Node& node) {
  NameScope* scope = root;
  std::string_view rest = node.name;
  for (size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
    std::unique_ptr<NameScope>& inner = scope->scopes[std::string(rest.substr(0, slash))];
    if (inner == nullptr) inner = std::make_unique<NameScope>();
    scope = inner.get();
    rest.remove_prefix(slash + 1);
  }
  scope->nodes.push_back(node.id);
}

class DotWriter {
 public:
  explicit DotWriter(const Graph& graph) : graph_(graph) {}

  std::string Write() {
    NameScope root;
    for (NodeId id = 0; id < graph_.num_nodes(); ++id) Insert(&root, graph_.node(id));
    text_ =
        "digraph muster {\n  node [shape=box style=filled fontname=Helvetica];\n  edge [fontname=Helvetica "
        "fontsize=9];\n";
    WriteScope(root, 1);
    for (NodeId id = 0; id < graph_.num_nodes(); ++id) WriteEdges(graph_.node(id));
    text_ += "}\n";
    return std::move(text_);
  }

 private:
  void WriteScope(const NameScope& scope, int depth) {
    for (const NodeId id : scope.nodes) WriteNode(graph_.node(id), depth);
    for (const auto& [name, inner] : scope.scopes) {
      const std::string indent(static_cast<size_t>(2 * depth), ' ');
      // Graphviz draws a frame around subgraphs whose name begins with "cluster".
      text_ += fmt::format("{}subgraph cluster_{} {{\n{}  label={};\n", indent, num_clusters_++, indent, Quoted(name));
      WriteScope(*inner, depth + 1);
      text_ += fmt::format("{}}}\n", indent);
    }
  }

  void WriteNode(const Node& node, int depth) {
    const std::string label = fmt::format("{}\n{}", node.name.substr(node.name.rfind('/') + 1), OpName(node.kind));
    text_ += fmt::format("{:{}}n{} [label={} fillcolor={}", "", 2 * depth, node.id, Quoted(label), ColorOf(node));
    if (node.kind == OpKind::kVariable || node.kind == OpKind::kConst) text_ += " shape=ellipse";
    text_ += fmt::format(" tooltip={}];\n", Quoted(NodeToText(graph_, node.id)));
  }

  // Colours in order of the devices' first appearance; white where none was asked for.
  const char* ColorOf(const Node& node) {
    static constexpr std::array<const char*, 8> kColors = {"lightblue", "lightsalmon", "palegreen",      "plum",
                                                           "khaki",     "lightcyan",   "lightgoldenrod", "thistle"};
    if (node.device.is_empty()) return "white";
    const auto [found, added] = colors_.emplace(node.device.ToString(), colors_.size());
    return kColors[found->second % kColors.size()];
  }

  void WriteEdges(const Node& node) {
    for (const Output& input : node.inputs)
      text_ += fmt::format("  n{} -> n{} [label={}];\n", input.node, node.id, Quoted(graph_.desc(input).ToString()));
    for (const NodeId control : node.control_inputs)
      text_ += fmt::format("  n{} -> n{} [style=dashed];\n", control, node.id);
  }

  const Graph& graph_;
  std::string text_;
  int num_clusters_ = 0;
  std::map<std::string, size_t> colors_;
};

}  // namespace

std::string GraphToDot(const Graph& graph) { return DotWriter(graph).Write(); }

}  // namespace muster
