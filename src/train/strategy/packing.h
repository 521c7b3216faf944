#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "train/strategy/parts.h"

namespace muster::train {

// Tensors put into one, and taken out again. All functions work on each tower's own device.

// Makes one vector of the tensors, in their order.
Parts Concatenate(const ExchangeContext& context, const std::vector<Parts>& tensors);
// The reverse, for tensors of these shapes.
std::vector<Parts> TakeApart(const ExchangeContext& context, const Parts& vector, const std::vector<Shape>& shapes);

// A vector cut into "num" packs of equal size; the last takes the remainder. Fewer packs if there are fewer elements.
std::vector<Parts> CutIntoPacks(const ExchangeContext& context, const Parts& vector, int64_t num);
Parts JoinPacks(const ExchangeContext& context, const std::vector<Parts>& packs);

// Runs of consecutive numbers in an ascending list, as {first, last}, and the numbers that stand alone. A run ends when
// it has one number more than "limit".
struct Ranges {
  std::vector<std::pair<int, int>> ranges;
  std::vector<int> singles;
};
Ranges ExtractRanges(const std::vector<int>& numbers, int64_t limit);

// Runs of small float32 tensors become one vector each: tensors of at most max_bytes, next to each other in the list,
// at most about max_group together. Small ones that stand alone stay as they are.
class SmallPacking {
 public:
  SmallPacking(const ExchangeContext& context, const std::vector<Parts>& tensors, int64_t max_bytes, int64_t max_group);

  // The packs, then the other tensors in their order.
  std::vector<Parts> Pack(const ExchangeContext& context, const std::vector<Parts>& tensors) const;
  // Tensors in the first order from a list in Pack's.
  std::vector<Parts> Unpack(const ExchangeContext& context, const std::vector<Parts>& packed) const;

 private:
  std::vector<std::pair<int, int>> runs_;
  std::vector<int> others_;
  std::vector<Shape> shapes_;
};

}  // namespace muster::train
