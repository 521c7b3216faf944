#pragma once

#include <functional>
#include <memory>

#include "muster/exchange.h"
#include "train/strategy/parts.h"

namespace muster::train {

// Adds the towers' parts of one tensor, scales the sum, and gives every tower the result. "position" is the tensor's
// place in the list that is being reduced, by which devices take turns. Every algorithm adds in an order that depends
// on nothing but the arguments, and every tower gets the same bits.
using AllReduce = std::function<Parts(const ExchangeContext& context, const Parts& parts, int64_t position)>;

// plain_copy.cc: tensor i is summed on tower i mod n, or on the CPU, and everyone pulls the sum.
AllReduce PlainCopy(bool on_cpu);

// shuffle.cc: the tensor is cut into one shard for each device of a group, which sums it; groups of "shards" devices
// take turns (pscpu, psgpu). Throws InvalidArgument if there are fewer devices than shards.
AllReduce Shuffle(const std::vector<std::string>& devices, int64_t shards);
// Groups of "size" devices: as many as it takes to use each device, which are dealt out one after the other.
std::vector<std::vector<std::string>> DeviceGroups(const std::vector<std::string>& devices, int64_t size);

// ring.cc: "rings" rings over all towers, each on its part of the tensor, with rotated starts. In a ring of n towers
// chunk c goes round once, growing to a sum that ends on the c-th, and once more as a result. "order": of the towers;
// empty: as they are.
AllReduce Ring(int64_t rings, std::vector<int> order = {});

// hierarchical_copy.cc: the two halves of the towers sum their parts, one of both roots adds the two sums, and either
// half pulls the result from its root.
AllReduce HierarchicalCopy(NetworkTopology topology);

// One range of an all_reduce_spec, in one process: what it does between processes is left out.
AllReduce AlgorithmOf(const AllReduceRange& range, const ExchangeContext& context, const std::vector<int>& ring_order);

}  // namespace muster::train
