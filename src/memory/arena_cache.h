#pragma once

#include <map>
#include <vector>

#include "memory/arena_planner.h"

namespace muster {

// Plans arenas, each question once: towers of one kind have the same values with the same lifetimes.
class ArenaCache {
 public:
  // PlanArena of these values; the answer lives as long as the cache.
  const ArenaPlan& Plan(const std::vector<ArenaValue>& values, int64_t alignment);

 private:
  std::map<std::pair<std::vector<ArenaValue>, int64_t>, ArenaPlan> plans_;
};

}  // namespace muster
