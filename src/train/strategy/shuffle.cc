#include <algorithm>

#include <fmt/format.h>

#include "muster/error.h"
#include "train/strategy/all_reduce.h"

namespace muster::train {

std::vector<std::vector<std::string>> DeviceGroups(const std::vector<std::string>& devices, int64_t size) {
  const int64_t count = static_cast<int64_t>(devices.size());
  if (size < 1 || size > count)
    throw InvalidArgument(fmt::format("groups of {} devices cannot be made of {}", size, count));
  const int64_t num_groups = (count + size - 1) / size;
  std::vector<std::vector<std::string>> groups(static_cast<size_t>(num_groups));
  for (int64_t i = 0; i < num_groups * size; ++i)
    groups[static_cast<size_t>(i % num_groups)].push_back(devices[static_cast<size_t>(i % count)]);
  return groups;
}

AllReduce Shuffle(const std::vector<std::string>& devices, int64_t shards) {
  return
      [groups = DeviceGroups(devices, shards)](const ExchangeContext& context, const Parts& parts, int64_t position) {
        const std::vector<std::string>& group = groups[static_cast<size_t>(position) % groups.size()];
        const Shape shape = context.scope.shape(parts[0]);
        const int64_t num_shards = std::clamp<int64_t>(shape.num_elements(), 1, static_cast<int64_t>(group.size()));
        if (num_shards == 1)
          return Parts(parts.size(), ScaledSum(context.scope.WithDevice(group[0]), parts, context.scale));
        std::vector<Parts> shards_of(static_cast<size_t>(num_shards));  // by shard, then tower
        for (int t = 0; t < context.num_towers(); ++t) {
          const Scope scope = context.OnTower(t);
          const auto cut =
              Cut(scope, Flat(scope, parts[static_cast<size_t>(t)]), EqualPieces(shape.num_elements(), num_shards));
          for (size_t s = 0; s < cut.size(); ++s) shards_of[s].push_back(cut[s]);
        }
        std::vector<Output> sums;
        for (size_t s = 0; s < shards_of.size(); ++s)
          sums.push_back(ScaledSum(context.scope.WithDevice(group[s]), shards_of[s], context.scale));
        Parts results;
        for (int t = 0; t < context.num_towers(); ++t)
          results.push_back(Unflat(context.OnTower(t), Join(context.OnTower(t), sums), shape));
        return results;
      };
}

}  // namespace muster::train
