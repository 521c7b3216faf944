#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "memory/access_history.h"

namespace muster {

// How far each lane had come: by lane, the number of its last piece of work that is known to be done.
using VectorClock = std::vector<uint64_t>;

// Bytes that a piece of work reads or writes.
struct MemoryAccess {
  const void* address = nullptr;
  int64_t bytes = 0;
  bool is_write = false;
  const char* role = "";  // "input 0", for messages; static text
};

// Finds accesses to memory that nothing orders, whatever the timing of this run was: work is checked when it is
// enqueued, against what streams, events and the host's waits say must be done by then (vector clocks: Mattern,
// "Virtual time and global states of distributed systems", 1988). Streams are lanes. One checker serves all simulated
// devices of a session.
//
// What the host knows to be done counts for everything that is enqueued later. Thread-safe.
class HazardChecker {
 public:
  // A stream; the name appears in messages.
  int AddLane(std::string name);

  // The lane's next piece of work. Throws Internal if an access conflicts with one (write with read or write, read with
  // write) that is not ordered before it: the message says which work, what it would read or overwrite, and whose.
  void OnWork(int lane, std::string_view what, std::span<const MemoryAccess> accesses) MUSTER_EXCLUDES(mutex_);
  // What an event that is recorded on this lane now stands for.
  VectorClock OnRecord(int lane) MUSTER_EXCLUDES(mutex_);
  // Later work of the lane comes after what the event stands for.
  void OnWait(int lane, const VectorClock& event) MUSTER_EXCLUDES(mutex_);
  // The host waited for all work of the lane.
  void OnHostWait(int lane) MUSTER_EXCLUDES(mutex_);

 private:
  void Check(int lane, std::string_view what, const MemoryAccess& access) MUSTER_REQUIRES(mutex_);
  bool IsBefore(const AccessHistory::Access& earlier, int lane) const MUSTER_REQUIRES(mutex_);
  uint32_t NameIndex(std::string_view what) MUSTER_REQUIRES(mutex_);
  // Forgets what the host knows to be done: it is ordered before everything that may come.
  void Prune() MUSTER_REQUIRES(mutex_);
  [[noreturn]] void Report(int lane, std::string_view what, const MemoryAccess& access,
                           const AccessHistory::Access& earlier, bool was_write) const MUSTER_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::vector<std::string> lanes_ MUSTER_GUARDED_BY(mutex_);
  std::vector<VectorClock> clocks_ MUSTER_GUARDED_BY(mutex_);  // by lane
  VectorClock host_ MUSTER_GUARDED_BY(mutex_);
  AccessHistory history_ MUSTER_GUARDED_BY(mutex_);
  std::vector<std::string> names_ MUSTER_GUARDED_BY(mutex_);
  std::map<std::string, uint32_t, std::less<>> name_index_ MUSTER_GUARDED_BY(mutex_);
  size_t prune_at_ MUSTER_GUARDED_BY(mutex_) = 1 << 16;
};

}  // namespace muster
