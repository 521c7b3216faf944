#include "run/variable_memory.h"

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
  layouts_.resize(static_cast<size_t>(table.size()));
  for (int device = 0; device < static_cast<int>(devices_.size()); ++device) {
    bool is_new = false, has_moved = false;
    for (int i = 0; i < table.size(); ++i) {
      const VariableTable::Entry& e = table.entry(i);
      if (e.device != device) continue;
      is_new = is_new || e.chunk < 0;
      has_moved = has_moved || (e.chunk >= 0 && !(e.desc.layout == layouts_[static_cast<size_t>(i)]));
    }
    if (has_moved) Relayout(table, device);
    else if (is_new) Allocate(table, device);
  }
}

void VariableMemory::Allocate(VariableTable& table, int device) {
  // Memory first: if there is none, the table stays as it was.
  const int chunk = static_cast<int>(chunks_.size());
  const auto is_new = [](const VariableTable::Entry& e) { return e.chunk < 0; };
  const int64_t bytes = table.BytesOf(device, is_new);
  void* base = DeviceOf(device).allocator()->Allocate(static_cast<size_t>(bytes));
  if (bytes > 0) ClearOn(DeviceOf(device), base, static_cast<size_t>(bytes));
  chunks_.push_back({device, static_cast<char*>(base), bytes});
  table.AssignOffsets(device, chunk, is_new);
  for (int i = 0; i < table.size(); ++i)
    if (table.entry(i).chunk == chunk) layouts_[static_cast<size_t>(i)] = table.entry(i).desc.layout;
}

// Rare: a plan wants another form after variables have values. Everything on the device moves to one new chunk; until then
// both exist.
void VariableMemory::Relayout(VariableTable& table, int device) {
  const VariableTable before = table;
  const std::vector<Layout> old_layouts = layouts_;
  const size_t num_old = chunks_.size();
  for (int i = 0; i < table.size(); ++i)
    if (table.entry(i).device == device) table.mutable_entry(i).chunk = -1;
  try {
    Allocate(table, device);
  } catch (...) {
    table = before;
    throw;
  }
  for (int i = 0; i < table.size(); ++i) {
    const VariableTable::Entry &old = before.entry(i), &e = table.entry(i);
    if (old.device != device || old.chunk < 0) continue;
    const TensorDesc from{e.desc.dtype, e.desc.shape, old_layouts[static_cast<size_t>(i)]};
    if (from.layout == e.desc.layout) CopyWithin(DeviceOf(device), Address(e), Address(old), static_cast<size_t>(e.desc.byte_size()));
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
