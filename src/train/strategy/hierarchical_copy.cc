#include "muster/error.h"
#include "muster/ops/math.h"
#include "muster/ops/state.h"
#include "train/strategy/all_reduce.h"

namespace muster::train {
namespace {

// The towers that sum tensor "position": the one that also adds both sums, and the other half's.
struct Roots {
  int main = 0, other = 0;
};

Roots RootsOf(NetworkTopology topology, int num_towers, int64_t position) {
  if (topology == NetworkTopology::kGcpV100) {
    // Pairs that have a direct link.
    constexpr Roots pairs[] = {{0, 5}, {2, 7}, {5, 0}, {7, 2}};
    return pairs[position % 4];
  }
  const int half = num_towers / 2, main = static_cast<int>(position % num_towers);
  // One in each half, also where the halves are not of one size.
  if (main < half) return {main, half + main};
  return {main, (main - half) % half};
}

}  // namespace

AllReduce HierarchicalCopy(NetworkTopology topology) {
  return [topology](const ExchangeContext& context, const Parts& parts, int64_t position) {
    const int n = context.num_towers(), half = n / 2;
    if (n < 2) throw InvalidArgument("a hierarchical copy needs two towers or more");
    const Roots roots = RootsOf(topology, n, position);
    const bool main_is_first = roots.main < half;
    const int first_root = main_is_first ? roots.main : roots.other,
              second_root = main_is_first ? roots.other : roots.main;
    const Output first = ScaledSum(context.OnTower(first_root), Parts(parts.begin(), parts.begin() + half), 1);
    const Output second = ScaledSum(context.OnTower(second_root), Parts(parts.begin() + half, parts.end()), 1);
    const Scope main = context.OnTower(roots.main);
    const Output total = ScaledSum(main.WithName("both"), {first, second}, context.scale);
    const Output at_other = ops::Identity(context.OnTower(roots.other).Named("pass_on"), total);
    Parts results;
    for (int t = 0; t < n; ++t) results.push_back((t < half) == main_is_first ? total : at_other);
    return results;
  };
}

}  // namespace muster::train
