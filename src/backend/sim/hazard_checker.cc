#include "backend/sim/hazard_checker.h"

#include <algorithm>

#include <fmt/format.h>

#include "muster/error.h"

namespace muster {
namespace {

void Join(VectorClock& clock, const VectorClock& other) {
  if (clock.size() < other.size()) clock.resize(other.size(), 0);
  for (size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

uint64_t TimeIn(const VectorClock& clock, int lane) {
  return static_cast<size_t>(lane) < clock.size() ? clock[static_cast<size_t>(lane)] : 0;
}

uintptr_t Begin(const MemoryAccess& access) { return reinterpret_cast<uintptr_t>(access.address); }
uintptr_t End(const MemoryAccess& access) { return Begin(access) + static_cast<uintptr_t>(access.bytes); }
bool IsEmpty(const MemoryAccess& access) { return access.address == nullptr || access.bytes <= 0; }

}  // namespace

int HazardChecker::AddLane(std::string name) {
  MutexLock lock(mutex_);
  lanes_.push_back(std::move(name));
  clocks_.emplace_back(lanes_.size(), 0);
  return static_cast<int>(lanes_.size()) - 1;
}

void HazardChecker::OnWork(int lane, std::string_view what, std::span<const MemoryAccess> accesses) {
  MutexLock lock(mutex_);
  VectorClock& clock = clocks_[static_cast<size_t>(lane)];
  Join(clock, host_);
  for (const MemoryAccess& access : accesses)
    if (!IsEmpty(access)) Check(lane, what, access);
  const AccessHistory::Access now{lane, ++clock[static_cast<size_t>(lane)], NameIndex(what)};
  for (const bool is_write : {false, true})  // writes last: what a kernel reads and writes counts as written
    for (const MemoryAccess& access : accesses)
      if (!IsEmpty(access) && access.is_write == is_write) history_.Enter(now, Begin(access), End(access), is_write);
  if (history_.num_segments() > prune_at_) Prune();
}

VectorClock HazardChecker::OnRecord(int lane) {
  MutexLock lock(mutex_);
  return clocks_[static_cast<size_t>(lane)];
}

void HazardChecker::OnWait(int lane, const VectorClock& event) {
  MutexLock lock(mutex_);
  Join(clocks_[static_cast<size_t>(lane)], event);
}

void HazardChecker::OnHostWait(int lane) {
  MutexLock lock(mutex_);
  Join(host_, clocks_[static_cast<size_t>(lane)]);
}

bool HazardChecker::IsBefore(const AccessHistory::Access& earlier, int lane) const {
  return earlier.lane == lane || TimeIn(clocks_[static_cast<size_t>(lane)], earlier.lane) >= earlier.time;
}

void HazardChecker::Check(int lane, std::string_view what, const MemoryAccess& access) {
  history_.VisitConflicts(Begin(access), End(access), access.is_write,
                          [&](const AccessHistory::Access& earlier, bool was_write) {
                            if (!IsBefore(earlier, lane)) Report(lane, what, access, earlier, was_write);
                          });
}

uint32_t HazardChecker::NameIndex(std::string_view what) {
  if (const auto it = name_index_.find(what); it != name_index_.end()) return it->second;
  names_.emplace_back(what);
  return name_index_.emplace(what, static_cast<uint32_t>(names_.size() - 1)).first->second;
}

void HazardChecker::Prune() {
  history_.Forget([&](const AccessHistory::Access& access) { return TimeIn(host_, access.lane) >= access.time; });
  prune_at_ = std::max<size_t>(1 << 16, 2 * history_.num_segments());
}

void HazardChecker::Report(int lane, std::string_view what, const MemoryAccess& access,
                           const AccessHistory::Access& earlier, bool was_write) const {
  throw Internal(fmt::format(
      "hazard: {} on {} {} its {} ({} bytes) while {} on {} may still be {} it: a wait is missing", what,
      lanes_[static_cast<size_t>(lane)], access.is_write ? "overwrites" : "reads", access.role, access.bytes,
      names_[earlier.what], lanes_[static_cast<size_t>(earlier.lane)], was_write ? "writing" : "reading"));
}

}  // namespace muster
