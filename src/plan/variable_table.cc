#include "plan/variable_table.h"

#include <algorithm>
#include <map>
#include <set>

namespace muster {

void VariableTable::Update(const Graph& graph) {
  const size_t before = entries_.size();
  for (const VariableInfo& info : graph.variables()) {
    if (index_.count(info.ref.node) > 0) continue;
    index_[info.ref.node] = size();
    Entry entry;
    entry.node = info.ref.node;
    entry.name = info.name;
    entry.desc = graph.desc(info.ref);
    entries_.push_back(std::move(entry));
  }
  if (entries_.size() != before) Sort(graph);
}

int VariableTable::IndexOf(NodeId node) const {
  auto it = index_.find(node);
  return it == index_.end() ? -1 : it->second;
}

// Trainable variables first; then slots, which are named "<variable>/<slot>", slot kind by slot kind; then the rest.
void VariableTable::Sort(const Graph& graph) {
  std::set<std::string> trainable;
  for (const VariableInfo& info : graph.variables())
    if (info.trainable) trainable.insert(info.name);
  std::map<std::string, int> kinds;
  std::vector<int> group(entries_.size());
  for (int i = 0; i < size(); ++i) {
    const std::string& name = entry(i).name;
    const size_t slash = name.rfind('/');
    int& g = group[static_cast<size_t>(i)];
    if (trainable.count(name) > 0) {
      g = 0;
    } else if (slash != std::string::npos && trainable.count(name.substr(0, slash)) > 0) {
      g = kinds.emplace(name.substr(slash), static_cast<int>(kinds.size()) + 1).first->second;
    } else {
      g = 1 << 20;
    }
  }
  memory_order_.resize(entries_.size());
  for (int i = 0; i < size(); ++i) memory_order_[static_cast<size_t>(i)] = i;
  std::stable_sort(memory_order_.begin(), memory_order_.end(),
                   [&](int a, int b) { return group[static_cast<size_t>(a)] < group[static_cast<size_t>(b)]; });
  position_.resize(entries_.size());
  for (int i = 0; i < size(); ++i) position_[static_cast<size_t>(memory_order_[static_cast<size_t>(i)])] = i;
}

std::vector<std::vector<int>> VariableTable::ByDevice(int num_devices) const {
  std::vector<std::vector<int>> indices(static_cast<size_t>(num_devices));
  for (int index : memory_order_) indices[static_cast<size_t>(entry(index).device)].push_back(index);
  return indices;
}

int64_t VariableTable::BytesOf(const std::vector<int>& indices) const {
  int64_t bytes = 0;
  for (int index : indices) bytes += AlignUp(entry(index).desc.byte_size());
  return bytes;
}

void VariableTable::AssignOffsets(const std::vector<int>& indices, int chunk) {
  int64_t offset = 0;
  for (int index : indices) {
    Entry& e = mutable_entry(index);
    e.chunk = chunk;
    e.offset = offset;
    offset += AlignUp(e.desc.byte_size());
  }
}

}  // namespace muster
