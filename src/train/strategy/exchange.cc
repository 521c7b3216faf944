#include "train/strategy/exchange.h"

#include <fmt/format.h>

#include "muster/ops/math.h"
#include "muster/variables.h"
#include "train/strategy/all_reduce.h"
#include "train/strategy/buckets.h"
#include "train/strategy/packing.h"

namespace muster::train {
namespace {

// Tensors of one type as another, on their towers.
std::vector<Parts> Cast(const ExchangeContext& context, std::vector<Parts> tensors, DType from, DType to) {
  for (Parts& parts : tensors)
    for (int t = 0; t < context.num_towers(); ++t)
      if (Output& part = parts[static_cast<size_t>(t)]; context.scope.dtype(part) == from) part = ops::Cast(context.OnTower(t), part, to);
  return tensors;
}

std::vector<Parts> ReduceEach(const ExchangeContext& context, const AllReduce& reduce, const std::vector<Parts>& tensors) {
  std::vector<Parts> results;
  for (size_t i = 0; i < tensors.size(); ++i)
    results.push_back(reduce(context, tensors[i], static_cast<int64_t>(i)));
  return results;
}

// Whether gradients go in buckets: where the user says how to put them together, it is done so.
bool UsesBuckets(const ExchangeContext& context, const ExchangeOptions& options) {
  const bool packs_small = options.agg_small_grads_max_bytes > 0 && !options.all_reduce_spec.empty();
  return options.bucket_bytes > 0 && context.num_towers() > 1 && options.gradient_repacking == 0 && !packs_small;
}

std::vector<Parts> ReduceAll(const ExchangeContext& context, const ExchangeOptions& options, const AllReduce& reduce,
                             const std::vector<Parts>& tensors) {
  if (!UsesBuckets(context, options) || tensors.empty()) return ReduceEach(context, reduce, tensors);
  const Buckets buckets(context, tensors, options.first_bucket_bytes, options.bucket_bytes);
  return buckets.Unpack(context, ReduceEach(context, reduce, buckets.Pack(context, tensors)));
}

// The tensors of one range of a specification.
std::vector<Parts> ReduceRange(const ExchangeContext& context, const ExchangeOptions& options, const AllReduceRange& range,
                               const std::vector<Parts>& tensors) {
  const AllReduce reduce = AlgorithmOf(range, context, options.ring_order);
  if (options.agg_small_grads_max_bytes <= 0) return ReduceAll(context, options, reduce, tensors);
  const SmallPacking packing(context, tensors, options.agg_small_grads_max_bytes, options.agg_small_grads_max_group);
  return packing.Unpack(context, ReduceEach(context, reduce, packing.Pack(context, tensors)));
}

// Each range takes what no earlier one took and what fits its limit.
std::vector<Parts> ReduceBySpec(const ExchangeContext& context, const ExchangeOptions& options,
                                const std::vector<Parts>& tensors) {
  std::vector<Parts> results(tensors.size());
  for (const AllReduceRange& range : options.all_reduce_spec) {
    std::vector<size_t> taken;
    std::vector<Parts> mine;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const bool fits = range.limit < 0 || context.scope.shape(tensors[i][0]).num_elements() <= range.limit;
      if (!results[i].empty() || !fits) continue;
      taken.push_back(i);
      mine.push_back(tensors[i]);
    }
    const std::vector<Parts> reduced = ReduceRange(context, options, range, mine);
    for (size_t k = 0; k < taken.size(); ++k) results[taken[k]] = reduced[k];
  }
  return results;
}

std::vector<Parts> Reduce(const ExchangeContext& context, const ExchangeOptions& options, const std::vector<Parts>& tensors) {
  if (!options.all_reduce_spec.empty()) return ReduceBySpec(context, options, tensors);
  if (options.hierarchical_copy && context.num_towers() > 1)
    return ReduceAll(context, options, HierarchicalCopy(options.network_topology), tensors);
  return ReduceAll(context, options, PlainCopy(options.sum_on_cpu), tensors);
}

}  // namespace

Parts DelayOneStep(const ExchangeContext& context, const Parts& parts, std::vector<NodeId>* also) {
  Parts late;
  for (int t = 0; t < context.num_towers(); ++t) {
    const Output now = parts[static_cast<size_t>(t)];
    const Scope scope = context.OnTower(t);
    const std::string name = scope.graph()->UniqueName(fmt::format("delayed_gradients/tower_{}", t));
    const Variable kept = GetVariable(scope.WithoutName(), {name, scope.dtype(now), scope.shape(now), initializers::Zeros(), false});
    also->push_back(ops::Assign(scope.Named("keep"), kept, now).node);
    late.push_back(kept);
  }
  return late;
}

Exchanged ExchangeGradients(const ExchangeContext& context, const ExchangeOptions& options, std::vector<Parts> gradients) {
  std::vector<Shape> shapes;
  for (const Parts& parts : gradients) shapes.push_back(context.scope.shape(parts[0]));
  const bool repacks = options.gradient_repacking > 0;
  std::vector<NodeId> also;
  if (repacks) gradients = {Concatenate(context, gradients)};
  if (options.half_precision) gradients = Cast(context, std::move(gradients), DType::kFloat32, DType::kFloat16);
  if (options.relaxed)
    for (Parts& parts : gradients) parts = DelayOneStep(context, parts, &also);
  if (repacks) gradients = CutIntoPacks(context, gradients[0], options.gradient_repacking);
  gradients = Reduce(context, options, gradients);
  if (options.half_precision) gradients = Cast(context, std::move(gradients), DType::kFloat16, DType::kFloat32);
  if (repacks) gradients = TakeApart(context, JoinPacks(context, gradients), shapes);
  return {std::move(gradients), std::move(also)};
}

}  // namespace muster::train
