#include "train/checkpoint_names.h"

#include <cctype>

namespace muster::train {
namespace {

constexpr std::string_view kSharedState = "append_apply_gradient_ops/";

// The length of "v/" or "v12/" in front of a name; 0: there is none.
size_t PrefixLength(std::string_view name) {
  if (!name.starts_with('v')) return 0;
  size_t end = 1;
  while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
  return end < name.size() && name[end] == '/' ? end + 1 : 0;
}

// Inputs that are kept, and what --staged_vars carries from one step to the next.
bool IsOfOneRun(const std::string& name) {
  return name.find("gpu_cached_inputs") != std::string::npos || name.starts_with("staged/") || name.starts_with("delayed_gradients/");
}

SavedVariable Saved(const VariableInfo& info, bool copies_are_equal) {
  std::string name = CheckpointName(info.name);
  if (name.find('/') == std::string::npos && name.find("_power") != std::string::npos) name = std::string(kSharedState) + name;
  SavedVariable saved{info.ref, name, {}};
  if (const size_t length = PrefixLength(name); length > 0) {
    const std::string rest = name.substr(length);
    const bool is_first = name.starts_with("v/") || name.starts_with("v0/");
    if (copies_are_equal && !is_first) saved.name = "v0/" + rest;
    for (const std::string& other : {"v/" + rest, "v0/" + rest})
      if (other != saved.name) saved.other_names.push_back(other);
  }
  return saved;
}

}  // namespace

std::string CheckpointName(const std::string& name) { return name.starts_with("cg/") ? "v/" + name : name; }

std::vector<SavedVariable> CheckpointVariables(const Graph& graph, bool copies_are_equal) {
  std::vector<SavedVariable> variables;
  for (const VariableInfo& info : graph.variables())
    if (!IsOfOneRun(info.name)) variables.push_back(Saved(info, copies_are_equal));
  return variables;
}

}  // namespace muster::train
