#include "memory/arena_planner.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "memory/arena_placement.h"

namespace muster {
namespace {

using arena::Block;
using arena::Placement;

// The blocks of some values, and which block a value lies in (-1: it has no bytes).
struct Blocks {
  std::vector<Block> list;
  std::vector<int> block_of;
};

Blocks MergeGroups(std::span<const ArenaValue> values, int64_t alignment) {
  Blocks blocks;
  blocks.block_of.assign(values.size(), -1);
  std::unordered_map<int, int> block_of_group;
  for (size_t i = 0; i < values.size(); ++i) {
    const ArenaValue& value = values[i];
    MUSTER_CHECK(value.bytes >= 0 && value.first <= value.last);
    if (value.bytes == 0) continue;
    const int64_t bytes = RoundUp(value.bytes, alignment);
    int index = static_cast<int>(blocks.list.size());
    if (value.group != ArenaValue::kNoGroup) index = block_of_group.emplace(value.group, index).first->second;
    blocks.block_of[i] = index;
    if (index == static_cast<int>(blocks.list.size())) {
      blocks.list.push_back({bytes, value.first, value.last});
    } else {
      Block& block = blocks.list[static_cast<size_t>(index)];
      block = {std::max(block.bytes, bytes), std::min(block.first, value.first), std::max(block.last, value.last)};
    }
  }
  return blocks;
}

// Block numbers sorted by the tuple that "key" makes of a block, ascending; ties keep the order of definition.
template <typename Key>
std::vector<int> OrderBy(const std::vector<Block>& blocks, Key key) {
  std::vector<int> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return key(blocks[static_cast<size_t>(a)]) < key(blocks[static_cast<size_t>(b)]);
  });
  return order;
}

double Lifetime(const Block& block) { return static_cast<double>(block.last) - block.first + 1; }

// Tries orders, keeps the best placement, and stops when it cannot be better or the work is used up.
class Search {
 public:
  Search(const std::vector<Block>& blocks, int64_t lower_bound) : blocks_(blocks), lower_bound_(lower_bound) {}

  void Run() {
    TrySortedOrders();
    last_order_ = best_order_;
    last_placement_ = best_;
    // Squeaky wheel: what ended on top is what lacked room, so it chooses earlier in the next round.
    for (int round = 0; round < kMaxRounds && !good_enough() && work_ < kWork; ++round)
      Try(TopmostFirst(last_order_, last_placement_), "topmost first");
  }

  const Placement& best() const { return best_; }
  const char* best_order() const { return best_name_; }

 private:
  static constexpr int kMaxRounds = 200;
  // Pairs of blocks after whose comparison no further round begins; about a nanosecond each.
  static constexpr int64_t kWork = 10'000'000;

  // Half a percent of memory is not worth milliseconds of each program's start.
  bool good_enough() const { return !best_order_.empty() && best_.arena_bytes <= lower_bound_ + lower_bound_ / 200; }

  void TrySortedOrders() {
    using Key = std::tuple<double, double, int>;
    const auto bytes = [](const Block& b) { return static_cast<double>(b.bytes); };
    Try(OrderBy(blocks_, [&](const Block& b) { return Key(-bytes(b), -Lifetime(b), b.first); }), "size");
    Try(OrderBy(blocks_, [&](const Block& b) { return Key(-Lifetime(b), -bytes(b), b.first); }), "lifetime");
    Try(OrderBy(blocks_, [&](const Block& b) { return Key(-bytes(b) * Lifetime(b), -bytes(b), b.first); }),
        "size x lifetime");
    Try(OrderBy(blocks_, [&](const Block& b) { return Key(b.first, -Lifetime(b), -b.last); }), "start");
  }

  void Try(std::vector<int> order, const char* name) {
    if (good_enough()) return;
    const auto count = static_cast<int64_t>(order.size());
    work_ += count * (count + 1) / 2;
    last_placement_ = arena::PlaceInOrder(blocks_, order);
    last_order_ = std::move(order);
    if (!best_order_.empty() && last_placement_.arena_bytes >= best_.arena_bytes) return;
    best_ = last_placement_;
    best_order_ = last_order_;
    best_name_ = name;
  }

  std::vector<int> TopmostFirst(std::vector<int> order, const Placement& placement) const {
    std::stable_partition(order.begin(), order.end(), [&](int index) {
      const auto i = static_cast<size_t>(index);
      return placement.offsets[i] + blocks_[i].bytes >= best_.arena_bytes;
    });
    return order;
  }

  const std::vector<Block>& blocks_;
  const int64_t lower_bound_;
  int64_t work_ = 0;
  Placement best_, last_placement_;
  std::vector<int> best_order_, last_order_;
  const char* best_name_ = "";
};

}  // namespace

double ArenaPlan::ratio() const {
  return lower_bound == 0 ? 1.0 : static_cast<double>(arena_bytes) / static_cast<double>(lower_bound);
}

ArenaPlan PlanArena(std::span<const ArenaValue> values, int64_t alignment) {
  MUSTER_CHECK(alignment > 0 && (alignment & (alignment - 1)) == 0);
  const Blocks blocks = MergeGroups(values, alignment);
  ArenaPlan plan;
  plan.offsets.assign(values.size(), 0);
  if (blocks.list.empty()) return plan;
  plan.lower_bound = arena::LargestLiveSum(blocks.list);
  Search search(blocks.list, plan.lower_bound);
  search.Run();
  plan.arena_bytes = search.best().arena_bytes;
  plan.order = search.best_order();
  for (size_t i = 0; i < values.size(); ++i)
    if (blocks.block_of[i] >= 0) plan.offsets[i] = search.best().offsets[static_cast<size_t>(blocks.block_of[i])];
  return plan;
}

}  // namespace muster
