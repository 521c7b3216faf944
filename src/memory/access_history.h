#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace muster {

// Who last wrote, and who has read since, each byte of an address space: what a new access could conflict with.
// Accesses belong to lanes (streams); those of one lane have increasing times. Not thread-safe.
class AccessHistory {
 public:
  struct Access {
    int lane = 0;
    uint64_t time = 0;
    uint32_t what = 0;  // the caller's
  };

  // Calls visit(const Access&, bool was_write) for what an access to [begin, end) conflicts with: the last write, and
  // for a write also the reads since, the last of each lane. The same one may be visited several times.
  template <typename F>
  void VisitConflicts(uintptr_t begin, uintptr_t end, bool is_write, F visit) const;

  // Enters an access. One that reads and writes is entered as a read, then as a write.
  void Enter(const Access& access, uintptr_t begin, uintptr_t end, bool is_write);

  // Forgets bytes all of whose accesses are_done(access).
  template <typename F>
  void Forget(F is_done);

  size_t num_segments() const { return segments_.size(); }

 private:
  // Bytes [key, end) with a history in common.
  struct Segment {
    uintptr_t end = 0;
    bool is_written = false;
    Access write;
    std::vector<Access> reads;
  };
  using Segments = std::map<uintptr_t, Segment>;

  Segments::const_iterator FirstOverlap(uintptr_t begin) const;
  // Makes "at" the start of a segment, if one covers it.
  void SplitAt(uintptr_t at);
  void EnterRead(const Access& access, uintptr_t begin, uintptr_t end);

  Segments segments_;
};

template <typename F>
void AccessHistory::VisitConflicts(uintptr_t begin, uintptr_t end, bool is_write, F visit) const {
  for (auto it = FirstOverlap(begin); it != segments_.end() && it->first < end; ++it) {
    if (it->second.is_written) visit(it->second.write, true);
    if (!is_write) continue;
    for (const Access& read : it->second.reads) visit(read, false);
  }
}

template <typename F>
void AccessHistory::Forget(F is_done) {
  for (auto it = segments_.begin(); it != segments_.end();) {
    bool all = !it->second.is_written || is_done(it->second.write);
    for (const Access& read : it->second.reads) all = all && is_done(read);
    it = all ? segments_.erase(it) : std::next(it);
  }
}

}  // namespace muster
