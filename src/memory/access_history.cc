#include "memory/access_history.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace muster {

AccessHistory::Segments::const_iterator AccessHistory::FirstOverlap(uintptr_t begin) const {
  auto it = segments_.upper_bound(begin);
  if (it != segments_.begin() && std::prev(it)->second.end > begin) --it;
  return it;
}

void AccessHistory::SplitAt(uintptr_t at) {
  auto it = segments_.lower_bound(at);
  if (it == segments_.begin()) return;
  Segment& before = std::prev(it)->second;
  if (before.end <= at) return;
  Segment tail = before;
  before.end = at;
  segments_.emplace_hint(it, at, std::move(tail));
}

void AccessHistory::Enter(const Access& access, uintptr_t begin, uintptr_t end, bool is_write) {
  if (begin >= end) return;
  SplitAt(begin);
  SplitAt(end);
  if (!is_write) return EnterRead(access, begin, end);
  const auto next = segments_.erase(segments_.lower_bound(begin), segments_.lower_bound(end));
  segments_.emplace_hint(next, begin, Segment{end, true, access, {}});
}

void AccessHistory::EnterRead(const Access& access, uintptr_t begin, uintptr_t end) {
  auto it = segments_.lower_bound(begin);
  while (begin < end) {
    if (it == segments_.end() || it->first > begin) {  // bytes that nobody has touched
      const uintptr_t gap_end = it == segments_.end() ? end : std::min(it->first, end);
      it = segments_.emplace_hint(it, begin, Segment{gap_end, false, {}, {}});
    }
    std::vector<Access>& reads = it->second.reads;
    const auto same =
        std::find_if(reads.begin(), reads.end(), [&](const Access& read) { return read.lane == access.lane; });
    if (same == reads.end()) reads.push_back(access);
    else *same = access;
    begin = it->second.end;
    ++it;
  }
}

}  // namespace muster
