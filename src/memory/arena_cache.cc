#include "memory/arena_cache.h"

namespace muster {

const ArenaPlan& ArenaCache::Plan(const std::vector<ArenaValue>& values, int64_t alignment) {
  const auto [it, is_new] = plans_.try_emplace({values, alignment});
  if (is_new) it->second = PlanArena(values, alignment);
  return it->second;
}

}  // namespace muster
