#include "train/strategy/buckets.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "muster/ops/array.h"

namespace muster::train {
namespace {

// The numbers of the tensors in the order in which all towers have made them: a graph's nodes are in the order of its
// making.
std::vector<size_t> OrderOfReadiness(const ExchangeContext& context, const std::vector<Parts>& tensors) {
  std::vector<size_t> ready(tensors.size(), 0), order(tensors.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t t = 0; t < static_cast<size_t>(context.num_towers()); ++t) {
    std::vector<size_t> of_tower = order;
    std::stable_sort(of_tower.begin(), of_tower.end(),
                     [&](size_t a, size_t b) { return tensors[a][t].node < tensors[b][t].node; });
    for (size_t place = 0; place < of_tower.size(); ++place)
      ready[of_tower[place]] = std::max(ready[of_tower[place]], place);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ready[a] < ready[b]; });
  return order;
}

}  // namespace

Buckets::Buckets(const ExchangeContext& context, const std::vector<Parts>& tensors, int64_t first_bytes,
                 int64_t bytes) {
  struct Open {
    std::vector<size_t> members;
    int64_t bytes = 0;
  };
  std::map<DType, Open> open;
  const auto close = [&](Open& bucket) {
    std::sort(bucket.members.begin(), bucket.members.end());
    members_.push_back(std::move(bucket.members));
    bucket = {};
  };
  for (const Parts& parts : tensors) shapes_.push_back(context.scope.shape(parts[0]));
  for (size_t i : OrderOfReadiness(context, tensors)) {
    const TensorDesc& desc = context.scope.graph()->desc(tensors[i][0]);
    Open& bucket = open[desc.dtype];
    bucket.members.push_back(i);
    bucket.bytes += desc.byte_size();
    if (bucket.bytes >= (members_.empty() ? std::min(first_bytes, bytes) : bytes)) close(bucket);
  }
  for (auto& [dtype, bucket] : open)
    if (!bucket.members.empty()) close(bucket);
}

std::vector<Parts> Buckets::Pack(const ExchangeContext& context, const std::vector<Parts>& tensors) const {
  std::vector<Parts> buckets;
  for (const std::vector<size_t>& members : members_) {
    Parts parts;
    for (int t = 0; t < context.num_towers(); ++t) {
      std::vector<Output> mine;
      for (size_t i : members) mine.push_back(tensors[i][static_cast<size_t>(t)]);
      parts.push_back(ops::Bucket(context.OnTower(t).Named("bucket"), mine));
    }
    buckets.push_back(std::move(parts));
  }
  return buckets;
}

std::vector<Parts> Buckets::Unpack(const ExchangeContext& context, const std::vector<Parts>& buckets) const {
  std::vector<Parts> tensors(shapes_.size());
  for (size_t b = 0; b < members_.size(); ++b) {
    std::vector<Shape> shapes;
    for (size_t i : members_[b]) shapes.push_back(shapes_[i]);
    for (int t = 0; t < context.num_towers(); ++t) {
      const auto apart =
          ops::Unbucket(context.OnTower(t).Named("unbucket"), buckets[b][static_cast<size_t>(t)], shapes);
      for (size_t k = 0; k < apart.size(); ++k) tensors[members_[b][k]].push_back(apart[k]);
    }
  }
  return tensors;
}

}  // namespace muster::train
