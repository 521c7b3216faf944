#pragma once

#include <cstdint>
#include <vector>

#include "train/strategy/parts.h"

namespace muster::train {

// Gradients of one dtype that are exchanged together: as many as make up a bucket's size, in the order in which the
// backward pass makes them. So the first buckets travel while it goes on. In a bucket tensors keep the order of the
// list, which is that of their variables in memory: one update can sweep over all of them.
class Buckets {
 public:
  // A bucket is full when it has "bytes" or more, the first of all when it has "first_bytes". Throws nothing.
  Buckets(const ExchangeContext& context, const std::vector<Parts>& tensors, int64_t first_bytes, int64_t bytes);

  // The buckets, the first that is full first.
  std::vector<Parts> Pack(const ExchangeContext& context, const std::vector<Parts>& tensors) const;
  // Tensors in the first order.
  std::vector<Parts> Unpack(const ExchangeContext& context, const std::vector<Parts>& buckets) const;

  // The numbers of the tensors in each bucket.
  const std::vector<std::vector<size_t>>& members() const { return members_; }

 private:
  std::vector<std::vector<size_t>> members_;
  std::vector<Shape> shapes_;  // by tensor
};

}  // namespace muster::train
