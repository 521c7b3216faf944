#include "compile/live_bytes.h"

#include <algorithm>

#include "compile/passes.h"
#include "compile/phase.h"

namespace muster {
namespace {

bool IsBatchNorm(OpKind kind) { return kind == OpKind::kFusedBatchNorm || kind == OpKind::k_FusedBatchNormEx; }

bool MayRepeat(const Node& node, bool reads_variables) {
  const OpDef& def = GetOpDef(node.kind);
  if (def.is_stateful || def.num_refs > 0 || node.outputs.empty() || node.kind == OpKind::k_Snapshot) return false;
  return !reads_variables || node.control_inputs.empty();  // it wanted the variable's value behind something
}

}  // namespace

LiveBytes::LiveBytes(const CompileGraph& graph, const CompileRequest& request, int device,
                     const std::vector<NodeId>& order) {
  for (NodeId id : order) {
    const Node& node = graph.node(id);
    if (graph.device(id) != device || IsSource(node.kind)) continue;
    if (GetOpDef(node.kind).is_alias) {
      const auto known = root_of_.find(node.inputs[0]);
      root_of_[{id, 0}] = known == root_of_.end() ? node.inputs[0] : known->second;
    } else {
      AddStep(graph, request, id);
    }
  }
  for (Output fetch : graph.fetches())
    if (const int v = Find(fetch); v >= 0) values_[static_cast<size_t>(v)].is_fetched = true;
  NoteWriters();
}

int LiveBytes::Find(Output value) const {
  const auto root = root_of_.find(value);
  const auto found = number_of_.find(root == root_of_.end() ? value : root->second);
  return found == number_of_.end() ? -1 : found->second;
}

void LiveBytes::AddStep(const CompileGraph& graph, const CompileRequest& request, NodeId id) {
  const Node& node = graph.node(id);
  const OpDef& def = GetOpDef(node.kind);
  const int index = size();
  Step step{.node = id, .is_late = PhaseOf(node) != kForward};
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    const Output in = node.inputs[static_cast<size_t>(i)];
    const int v = Find(in);
    step.inputs.push_back(v);
    if (v >= 0) {
      values_[static_cast<size_t>(v)].readers.push_back(index);
      step.is_late |= steps_[static_cast<size_t>(value(v).producer)].is_late;
    }
    const NodeId variable = graph.VariableBehind(in);
    if (variable == kNoNode) continue;
    if (i < def.num_refs) writers_[variable].push_back(index);
    else step.variables.push_back(variable);
  }
  if (node.kind == OpKind::kBucket || node.kind == OpKind::kUnbucket)  // what is in a bucket lies where the bucket does
    for (int v : step.inputs)
      if (v >= 0) values_[static_cast<size_t>(v)].is_outside = true;
  step.may_repeat = !step.is_late && MayRepeat(node, !step.variables.empty());
  if (def.num_refs == 0) {
    for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i) {
      const bool may_drop = step.may_repeat && !(IsBatchNorm(node.kind) && i > 0);
      number_of_[{id, i}] = static_cast<int>(values_.size());
      step.outputs.push_back(static_cast<int>(values_.size()));
      values_.push_back({.bytes = AlignUp(node.outputs[static_cast<size_t>(i)].byte_size()),
                         .producer = index,
                         .may_drop = may_drop,
                         .is_outside = node.kind == OpKind::k_Recv || node.kind == OpKind::kBucket ||
                                       node.kind == OpKind::kUnbucket});
    }
  } else if (node.kind != OpKind::kAssign && node.kind != OpKind::kAssignAdd && node.kind != OpKind::kAssignSub) {
    for (size_t i = 1; i < node.inputs.size(); ++i)  // as Lower places gradients
      if (const int v = step.inputs[i]; v >= 0 && graph.desc(node.inputs[i]).shape.rank() > 0 &&
                                        graph.desc(node.inputs[i]) == graph.desc(node.inputs[0]))
        values_[static_cast<size_t>(v)].is_outside = true;
  }
  const CompileDevice& device = request.devices[static_cast<size_t>(graph.device(id))];
  if (const KernelRow* row = FindRow(graph, id, device);
      row != nullptr && node.kind != OpKind::k_Send && node.kind != OpKind::k_Recv) {
    const PreparedKernel prepared = PrepareOn(device, *row, RequestFor(graph, id));
    step.workspace_bytes = AlignUp(prepared.workspace_bytes);
    for (auto [out, in] : prepared.in_place)
      if (def.num_refs == 0 && step.inputs[static_cast<size_t>(in)] >= 0)
        step.in_place.emplace_back(step.outputs[static_cast<size_t>(out)], step.inputs[static_cast<size_t>(in)]);
  }
  steps_.push_back(std::move(step));
}

void LiveBytes::NoteWriters() {
  for (Step& step : steps_)
    for (NodeId variable : step.variables)
      if (const auto found = writers_.find(variable); found != writers_.end())
        step.overwritten.insert(step.overwritten.end(), found->second.begin(), found->second.end());
}

LiveBytes::Answer LiveBytes::Ask(const std::vector<char>& dropped, int64_t limit_bytes) {
  if (!ChooseRepetitions(dropped)) return {.is_possible = false};
  BuildSequence();
  FindLifetimes();
  ShareInPlace();
  return Sum(limit_bytes);
}

// Readers stand behind what they read, so that going backwards the times of all readers are known.
bool LiveBytes::ChooseRepetitions(const std::vector<char>& dropped) {
  repeated_before_.assign(steps_.size(), kNever);
  for (int i = size() - 1; i >= 0; --i) {
    if (!dropped[static_cast<size_t>(i)]) continue;
    int& before = repeated_before_[static_cast<size_t>(i)];
    for (int v : step(i).outputs) {
      if (!value(v).may_drop) continue;
      for (int reader : value(v).readers)
        before = std::min(before, step(reader).is_late ? reader : RepeatedBefore(reader));
    }
    if (before == kNever) continue;
    for (int writer : step(i).overwritten)
      if (writer > i && writer < before) return false;
  }
  return true;
}

void LiveBytes::BuildSequence() {
  std::vector<std::pair<int, int>> repetitions;
  for (int i = 0; i < size(); ++i)
    if (RepeatedBefore(i) != kNever) repetitions.emplace_back(RepeatedBefore(i), i);
  std::sort(repetitions.begin(), repetitions.end());
  sequence_.clear();
  size_t next = 0;
  for (int i = 0; i < size(); ++i) {
    for (; next < repetitions.size() && repetitions[next].first == i; ++next)
      sequence_.emplace_back(repetitions[next].second, true);
    sequence_.emplace_back(i, false);
  }
}

int LiveBytes::Read(int v, int reader, bool is_repetition) const {
  const bool takes_repeated =
      value(v).may_drop && RepeatedBefore(value(v).producer) != kNever && (is_repetition || step(reader).is_late);
  return takes_repeated ? v + static_cast<int>(values_.size()) : v;
}

void LiveBytes::FindLifetimes() {
  const size_t count = values_.size();
  first_.assign(2 * count, kNever);
  last_.assign(2 * count, -1);
  for (int t = 0; t < static_cast<int>(sequence_.size()); ++t) {
    const auto [i, again] = sequence_[static_cast<size_t>(t)];
    for (int v : step(i).inputs)
      if (v >= 0) last_[static_cast<size_t>(Read(v, i, again))] = t;
    for (int v : step(i).outputs) {
      const size_t made = static_cast<size_t>(v) + (again ? count : 0);
      first_[made] = last_[made] = t;
    }
  }
  for (size_t v = 0; v < count; ++v)
    if (values_[v].is_fetched) last_[v] = static_cast<int>(sequence_.size());
}

// As Lower does: an output takes over the bytes of an input that dies in the same step.
void LiveBytes::ShareInPlace() {
  const size_t count = values_.size();
  owner_.resize(2 * count);
  outside_.assign(2 * count, 0);
  for (size_t v = 0; v < owner_.size(); ++v) {
    owner_[v] = static_cast<int>(v);
    outside_[v] = v < count && values_[v].is_outside;
  }
  for (int t = 0; t < static_cast<int>(sequence_.size()); ++t) {
    const auto [i, again] = sequence_[static_cast<size_t>(t)];
    std::vector<int> taken;
    for (auto [out, in] : step(i).in_place) {
      const size_t made = static_cast<size_t>(out) + (again ? count : 0);
      const int read = Read(in, i, again);
      const size_t owner = static_cast<size_t>(owner_[static_cast<size_t>(read)]);
      if (value(out).bytes != value(in).bytes || last_[owner] != t || owner_[made] != static_cast<int>(made)) continue;
      if (std::find(taken.begin(), taken.end(), read) != taken.end() ||
          std::count(step(i).inputs.begin(), step(i).inputs.end(), in) > 1)
        continue;
      owner_[made] = static_cast<int>(owner);
      last_[owner] = std::max(last_[owner], last_[made]);
      outside_[owner] |= outside_[made];
      taken.push_back(read);
    }
  }
}

LiveBytes::Answer LiveBytes::Sum(int64_t limit_bytes) {
  const size_t count = values_.size();
  change_.assign(sequence_.size() + 2, 0);
  for (size_t v = 0; v < 2 * count; ++v) {
    if (first_[v] == kNever || owner_[v] != static_cast<int>(v) || outside_[v]) continue;
    change_[static_cast<size_t>(first_[v])] += values_[v % count].bytes;
    change_[static_cast<size_t>(last_[v]) + 1] -= values_[v % count].bytes;
  }
  Answer answer;
  int64_t live = 0;
  for (size_t t = 0; t < sequence_.size(); ++t) {
    live += change_[t];
    const int64_t bytes = live + step(sequence_[t].first).workspace_bytes;
    answer.peak_bytes = std::max(answer.peak_bytes, bytes);
    answer.excess += static_cast<double>(std::max<int64_t>(0, bytes - limit_bytes));
  }
  return answer;
}

}  // namespace muster
