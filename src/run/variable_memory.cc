#include "run/variable_memory.h"

#include <algorithm>
#include <iterator>

#include "run/host_copy.h"

namespace muster {

VariableMemory::~VariableMemory() {
  for (const Chunk& chunk : chunks_)
    if (chunk.base != nullptr) DeviceOf(chunk.device).allocator()->Free(chunk.base);
}

void* VariableMemory::Address(const VariableTable::Entry& entry) const {
  return chunks_[static_cast<size_t>(entry.chunk)].base + entry.offset;
}

Tensor VariableMemory::Read(const VariableTable::Entry& entry) const {
  return ReadValue(DeviceOf(entry.device), entry.desc, Address(entry));
}

void VariableMemory::Write(const VariableTable::Entry& entry, const Tensor& value) const {
  WriteValue(DeviceOf(entry.device), entry.desc, Address(entry), value);
}

void VariableMemory::Ensure(VariableTable& table) {
  if (table.version == seen_version_ && table.size() == seen_size_) return;
  layouts_.resize(static_cast<size_t>(table.size()));
  const auto has_moved = [&](int i) {
    return table.entry(i).chunk >= 0 && !(table.entry(i).desc.layout == layouts_[static_cast<size_t>(i)]);
  };
  const std::vector<std::vector<int>> by_device = table.ByDevice(static_cast<int>(devices_.size()));
  for (int device = 0; device < static_cast<int>(devices_.size()); ++device) {
    const std::vector<int>& all = by_device[static_cast<size_t>(device)];
    if (std::any_of(all.begin(), all.end(), has_moved)) {
      Relayout(table, device, all);
      continue;
    }
    std::vector<int> added;
    std::copy_if(all.begin(), all.end(), std::back_inserter(added), [&](int i) { return table.entry(i).chunk < 0; });
    if (!added.empty()) Allocate(table, device, added);
  }
  seen_version_ = table.version;
  seen_size_ = table.size();
}

void VariableMemory::Allocate(VariableTable& table, int device, const std::vector<int>& indices) {
  // Memory first: if there is none, the table stays as it was.
  const int chunk = static_cast<int>(chunks_.size());
  const int64_t bytes = table.BytesOf(indices);
  void* base = DeviceOf(device).allocator()->Allocate(static_cast<size_t>(bytes));
  chunks_.push_back({device, static_cast<char*>(base), bytes});  // freed by the destructor even if clearing it fails
  if (bytes > 0) ClearOn(DeviceOf(device), base, static_cast<size_t>(bytes));
  table.AssignOffsets(indices, chunk);
  for (int i : indices) layouts_[static_cast<size_t>(i)] = table.entry(i).desc.layout;
}

// Rare: a plan wants another form after variables have values. Everything on the device moves to one new chunk; until
// then both exist.
void VariableMemory::Relayout(VariableTable& table, int device, const std::vector<int>& indices) {
  const VariableTable before = table;
  const std::vector<Layout> old_layouts = layouts_;
  const size_t num_old = chunks_.size();
  Allocate(table, device, indices);
  for (int i : indices) {
    const VariableTable::Entry &old = before.entry(i), &e = table.entry(i);
    if (old.chunk < 0) continue;
    const TensorDesc from{e.desc.dtype, e.desc.shape, old_layouts[static_cast<size_t>(i)]};
    if (from.layout == e.desc.layout)
      CopyWithin(DeviceOf(device), Address(e), Address(old), static_cast<size_t>(e.desc.byte_size()));
    else Write(e, ReadValue(DeviceOf(device), from, Address(old)));
  }
  for (size_t c = 0; c < num_old; ++c) {
    if (chunks_[c].device != device || chunks_[c].base == nullptr) continue;
    DeviceOf(device).allocator()->Free(chunks_[c].base);
    chunks_[c].base = nullptr;
  }
  ++table.version;
}

}  // namespace muster
