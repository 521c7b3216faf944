#include "train/strategy/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "muster/ops/math.h"
#include "muster/variables.h"
#include "train/strategy/all_reduce.h"
#include "train/strategy/buckets.h"
#include "train/strategy/packing.h"

namespace muster::train {
namespace {

std::vector<DType> DTypesOf(const ExchangeContext& context, const std::vector<Parts>& tensors) {
  std::vector<DType> dtypes;
  for (const Parts& parts : tensors) dtypes.push_back(context.scope.dtype(parts[0]));
  return dtypes;
}

// Each tensor in its type of "to", on its towers.
std::vector<Parts> CastEach(const ExchangeContext& context, std::vector<Parts> tensors, const std::vector<DType>& to) {
  for (size_t i = 0; i < tensors.size(); ++i)
    for (int t = 0; t < context.num_towers(); ++t)
      if (Output& part = tensors[i][static_cast<size_t>(t)]; context.scope.dtype(part) != to[i])
        part = ops::Cast(context.OnTower(t), part, to[i]);
  return tensors;
}

// What float32 gradients travel as; half-precision ones (of --fp16_vars) are so already.
std::vector<DType> Compact(std::vector<DType> dtypes) {
  std::replace(dtypes.begin(), dtypes.end(), DType::kFloat32, DType::kFloat16);
  return dtypes;
}

std::vector<Parts> ReduceEach(const ExchangeContext& context, const AllReduce& reduce,
                              const std::vector<Parts>& tensors) {
  std::vector<Parts> results;
  for (size_t i = 0; i < tensors.size(); ++i) results.push_back(reduce(context, tensors[i], static_cast<int64_t>(i)));
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
std::vector<Parts> ReduceRange(const ExchangeContext& context, const ExchangeOptions& options,
                               const AllReduceRange& range, const std::vector<Parts>& tensors) {
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

std::vector<Parts> Reduce(const ExchangeContext& context, const ExchangeOptions& options,
                          const std::vector<Parts>& tensors) {
  if (!options.all_reduce_spec.empty()) return ReduceBySpec(context, options, tensors);
  if (options.hierarchical_copy && context.num_towers() > 1)
    return ReduceAll(context, options, HierarchicalCopy(options.network_topology), tensors);
  return ReduceAll(context, options, PlainCopy(options.sum_on_cpu), tensors);
}

// What is put together in buckets must be of one type, so each type is reduced by itself.
std::vector<Parts> ReduceByType(const ExchangeContext& context, const ExchangeOptions& options,
                                const std::vector<Parts>& tensors) {
  std::map<DType, std::vector<size_t>> by_type;
  for (size_t i = 0; i < tensors.size(); ++i) by_type[context.scope.dtype(tensors[i][0])].push_back(i);
  std::vector<Parts> results(tensors.size());
  for (const auto& [dtype, indices] : by_type) {
    std::vector<Parts> mine;
    for (size_t i : indices) mine.push_back(tensors[i]);
    mine = Reduce(context, options, mine);
    for (size_t k = 0; k < indices.size(); ++k) results[indices[k]] = mine[k];
  }
  return results;
}

}  // namespace

Parts DelayOneStep(const ExchangeContext& context, const Parts& parts, std::vector<NodeId>* also) {
  Parts late;
  for (int t = 0; t < context.num_towers(); ++t) {
    const Output now = parts[static_cast<size_t>(t)];
    const Scope scope = context.OnTower(t);
    const std::string name = scope.graph()->UniqueName(fmt::format("delayed_gradients/tower_{}", t));
    const Variable kept =
        GetVariable(scope.WithoutName(), {name, scope.dtype(now), scope.shape(now), initializers::Zeros(), false});
    also->push_back(ops::Assign(scope.Named("keep"), kept, now).node);
    late.push_back(kept);
  }
  return late;
}

Exchanged ExchangeGradients(const ExchangeContext& context, const ExchangeOptions& options,
                            std::vector<Parts> gradients) {
  std::vector<Shape> shapes;
  for (const Parts& parts : gradients) shapes.push_back(context.scope.shape(parts[0]));
  const bool repacks = options.gradient_repacking > 0;
  std::vector<NodeId> also;
  if (repacks) gradients = {Concatenate(context, gradients)};
  const std::vector<DType> dtypes = DTypesOf(context, gradients);
  if (options.half_precision) gradients = CastEach(context, std::move(gradients), Compact(dtypes));
  if (options.relaxed)
    for (Parts& parts : gradients) parts = DelayOneStep(context, parts, &also);
  if (repacks) gradients = CutIntoPacks(context, gradients[0], options.gradient_repacking);
  gradients = ReduceByType(context, options, gradients);
  if (options.half_precision)
    gradients =
        CastEach(context, std::move(gradients), repacks ? std::vector<DType>(gradients.size(), dtypes[0]) : dtypes);
  if (repacks) gradients = TakeApart(context, JoinPacks(context, gradients), shapes);
  return {std::move(gradients), std::move(also)};
}

}  // namespace muster::train
