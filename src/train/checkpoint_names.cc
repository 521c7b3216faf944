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
  return name.find("gpu_cached_inputs") != std::string::npos || name.starts_with("staged/") ||
         name.starts_with("delayed_gradients/");
}

// The state of an automatic loss scale, which training without --use_fp16 has none of.
bool IsOfLossScale(const std::string& name) { return name == "loss_scale" || name == "loss_scale_normal_steps"; }

// What an optimizer keeps once for all variables. Each copy of the variables has an optimizer of its own, and the graph
// numbers the state of the later ones: "beta1_power", "beta1_power_1". "" for everything else.
std::string SharedStateOf(const std::string& name) {
  static constexpr std::string_view kStates[] = {"beta1_power", "beta2_power", "iteration", "mu_product"};
  for (const std::string_view state : kStates) {
    if (!name.starts_with(state)) continue;
    const std::string_view number = std::string_view(name).substr(state.size());
    const bool is_numbered =
        number.size() > 1 && number[0] == '_' && number.find_first_not_of("0123456789", 1) == std::string_view::npos;
    if (number.empty() || is_numbered) return std::string(state);
  }
  return "";
}

// TensorFlow's optimizers have powers alone, which tf_cnn_benchmarks keeps in a scope.
std::string NameOfSharedState(const std::string& name) {
  return name.find("_power") == std::string::npos ? name : std::string(kSharedState) + name;
}

SavedVariable SavedShared(const VariableInfo& info, const std::string& state, bool copies_are_equal) {
  SavedVariable saved{info.ref, NameOfSharedState(copies_are_equal ? state : info.name), {}};
  // All copies have made as many steps, so one's state is every one's.
  if (const std::string first = NameOfSharedState(state); first != saved.name) saved.other_names.push_back(first);
  return saved;
}

SavedVariable Saved(const VariableInfo& info, bool copies_are_equal) {
  if (const std::string state = SharedStateOf(info.name); !state.empty())
    return SavedShared(info, state, copies_are_equal);
  const std::string name = CheckpointName(info.name);
  SavedVariable saved{.ref = info.ref, .name = name, .is_optional = IsOfLossScale(name)};
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
