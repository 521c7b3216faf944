#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace muster {

// A value that needs memory for part of a schedule. Two values whose [first, last] have a step in common never share
// bytes: a step's inputs (whose last use it may be) and outputs (which it defines) are kept apart unless they are in
// one group.
struct ArenaValue {
  static constexpr int kNoGroup = -1;

  int64_t bytes = 0;
  int first = 0;  // step that defines it
  int last = 0;   // step that uses it last, itself included; at least "first"
  // Values of one group share their storage (in place, alias): it is as large as the largest and lives from the first
  // definition to the last use. Any number of at least 0.
  int group = kNoGroup;

  friend auto operator<=>(const ArenaValue&, const ArenaValue&) = default;
};

// Where each value lies in one block of memory.
struct ArenaPlan {
  std::vector<int64_t> offsets;  // by value, multiples of the alignment; 0 for values of no bytes
  int64_t arena_bytes = 0;
  // The largest sum of sizes (rounded to the alignment, groups counted once) that are live in one step: no plan can
  // need less.
  int64_t lower_bound = 0;
  const char* order = "";  // the order of placement that gave this plan, for dumps

  // arena_bytes / lower_bound; 1 for an empty arena.
  double ratio() const;
};

// Places the values greedily, each into the smallest gap that fits between those already placed which live at the same
// time, or on top. Tries several orders (by size, lifetime, size x lifetime, start), then moves what ended up on top to
// the front of the order and tries again, as long as the result is more than half a percent above the lower bound and a
// fixed budget of work lasts: 3,000 values take milliseconds. Deterministic. "alignment" is a power of two.
//
// Greedy by size is from Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020.
ArenaPlan PlanArena(std::span<const ArenaValue> values, int64_t alignment = 64);

// Checks a plan against its values, quadratic on purpose: empty if it is right, else one line that names the first
// violation (two live values that overlap, a group in two places, a wrong alignment, a value outside the arena).
std::string VerifyArena(std::span<const ArenaValue> values, const ArenaPlan& plan, int64_t alignment = 64);

}  // namespace muster
