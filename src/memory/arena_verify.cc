#include <fmt/core.h>

#include <algorithm>

#include "memory/arena_planner.h"

namespace muster {
namespace {

bool SameGroup(const ArenaValue& a, const ArenaValue& b) {
  return a.group != ArenaValue::kNoGroup && a.group == b.group;
}

// The lifetime that a value's storage has: its group's.
ArenaValue WithGroupLifetime(std::span<const ArenaValue> values, size_t index) {
  ArenaValue result = values[index];
  for (const ArenaValue& other : values) {
    // Values of no bytes need no storage, so that they do not extend it.
    if (!SameGroup(result, other) || other.bytes == 0) continue;
    result.first = std::min(result.first, other.first);
    result.last = std::max(result.last, other.last);
  }
  return result;
}

std::string Describe(const ArenaValue& value, size_t index, int64_t offset) {
  return fmt::format("value {} (steps {} to {}, bytes {} to {})", index, value.first, value.last, offset,
                     offset + value.bytes);
}

std::string VerifyPair(const ArenaValue& a, int64_t offset_a, size_t i, const ArenaValue& b, int64_t offset_b,
                       size_t j) {
  if (a.bytes == 0 || b.bytes == 0) return "";
  if (SameGroup(a, b)) {
    if (offset_a == offset_b) return "";
    return fmt::format("{} and {} are of one group but apart", Describe(a, i, offset_a), Describe(b, j, offset_b));
  }
  const bool live_together = a.first <= b.last && b.first <= a.last;
  const bool overlap = offset_a < offset_b + b.bytes && offset_b < offset_a + a.bytes;
  if (!live_together || !overlap) return "";
  return fmt::format("{} and {} overlap", Describe(a, i, offset_a), Describe(b, j, offset_b));
}

}  // namespace

std::string VerifyArena(std::span<const ArenaValue> values, const ArenaPlan& plan, int64_t alignment) {
  if (plan.offsets.size() != values.size())
    return fmt::format("the plan has {} offsets for {} values", plan.offsets.size(), values.size());
  std::vector<ArenaValue> lives;
  lives.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) lives.push_back(WithGroupLifetime(values, i));
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t offset = plan.offsets[i];
    if (offset % alignment != 0) return Describe(lives[i], i, offset) + " is not aligned";
    if (offset < 0 || offset + lives[i].bytes > plan.arena_bytes)
      return Describe(lives[i], i, offset) + " is outside the arena";
    for (size_t j = 0; j < i; ++j) {
      std::string fault = VerifyPair(lives[j], plan.offsets[j], j, lives[i], offset, i);
      if (!fault.empty()) return fault;
    }
  }
  return "";
}

}  // namespace muster
