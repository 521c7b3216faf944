#include "compile/use_index.h"

namespace muster {

void UseIndex::AddNode(const Node& node) {
  first_list_.push_back(static_cast<int>(lists_.size()));
  lists_.resize(lists_.size() + 1 + node.outputs.size());
  places_.emplace_back();
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i)
    AddInput({node.id, i}, node.inputs[static_cast<size_t>(i)]);
  for (int i = 0; i < static_cast<int>(node.control_inputs.size()); ++i)
    AddControl({node.id, i}, node.control_inputs[static_cast<size_t>(i)]);
}

void UseIndex::RemoveInputs(const Node& node) {
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i)
    Leave(ListOf(node.inputs[static_cast<size_t>(i)]), {node.id, i}, &Places::inputs);
  places_[static_cast<size_t>(node.id)].inputs.clear();
}

void UseIndex::RemoveControls(const Node& node) {
  for (int i = 0; i < static_cast<int>(node.control_inputs.size()); ++i)
    Leave(ListOf(node.control_inputs[static_cast<size_t>(i)]), {node.id, i}, &Places::controls);
  places_[static_cast<size_t>(node.id)].controls.clear();
}

void UseIndex::AddInput(Use use, Output value) { Enter(ListOf(value), use, &Places::inputs); }

void UseIndex::MoveInput(Use use, Output from, Output to) {
  Leave(ListOf(from), use, &Places::inputs);
  Enter(ListOf(to), use, &Places::inputs);
}

void UseIndex::AddControl(Use use, NodeId awaited) { Enter(ListOf(awaited), use, &Places::controls); }

void UseIndex::MoveControl(Use use, NodeId from, NodeId to) {
  Leave(ListOf(from), use, &Places::controls);
  Enter(ListOf(to), use, &Places::controls);
}

void UseIndex::Enter(size_t list, Use use, std::vector<uint32_t> Places::*places) {
  std::vector<uint32_t>& of_node = places_[static_cast<size_t>(use.node)].*places;
  if (of_node.size() <= static_cast<size_t>(use.input)) of_node.resize(static_cast<size_t>(use.input) + 1);
  of_node[static_cast<size_t>(use.input)] = static_cast<uint32_t>(lists_[list].size());
  lists_[list].push_back(use);
}

void UseIndex::Leave(size_t list, Use use, std::vector<uint32_t> Places::*places) {
  std::vector<Use>& uses = lists_[list];
  const uint32_t place = (places_[static_cast<size_t>(use.node)].*places)[static_cast<size_t>(use.input)];
  const Use last = uses.back();
  uses[place] = last;
  uses.pop_back();
  (places_[static_cast<size_t>(last.node)].*places)[static_cast<size_t>(last.input)] = place;
}

}  // namespace muster
