#pragma once

#include <memory>
#include <vector>

#include "core/device.h"
#include "plan/variable_table.h"

namespace muster {

// The bytes of a session's variables: one or more chunks per device. Guarded by the session's lock.
class VariableMemory {
 public:
  explicit VariableMemory(std::vector<Device*> devices) : devices_(std::move(devices)) {}
  ~VariableMemory();
  VariableMemory(const VariableMemory&) = delete;
  VariableMemory& operator=(const VariableMemory&) = delete;

  // Gives memory (zeros) to entries that have none, and moves those whose layout in the table has changed since.
  void Ensure(VariableTable& table);
  // The address of an entry on its device; Ensure must have run since the table changed.
  void* Address(const VariableTable::Entry& entry) const;
  // Its value, row-major, and the reverse. No replay may be running.
  Tensor Read(const VariableTable::Entry& entry) const;
  void Write(const VariableTable::Entry& entry, const Tensor& value) const;

 private:
  struct Chunk {
    int device = 0;
    char* base = nullptr;
    int64_t bytes = 0;
  };

  Device& DeviceOf(int index) const { return *devices_[static_cast<size_t>(index)]; }
  // "indices": of the entries, in the order of memory.
  void Allocate(VariableTable& table, int device, const std::vector<int>& indices);
  void Relayout(VariableTable& table, int device, const std::vector<int>& indices);

  std::vector<Device*> devices_;
  std::vector<Chunk> chunks_;
  std::vector<Layout> layouts_;  // by entry: the layout its bytes are in
  // What Ensure saw last: it runs before every step.
  int seen_version_ = -1, seen_size_ = 0;
};

}  // namespace muster
