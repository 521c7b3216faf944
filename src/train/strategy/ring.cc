#include <numeric>

#include "muster/ops/array.h"
#include "muster/ops/math.h"
#include "muster/ops/state.h"
#include "train/strategy/all_reduce.h"

namespace muster::train {
namespace {

// A ring over one part of the tensor, which every tower has cut into one chunk per tower.
class RingOfChunks {
 public:
  // "order": the tower at each place of the ring. "chunks": by tower, then chunk.
  RingOfChunks(const ExchangeContext& context, std::vector<int> order, const std::vector<std::vector<Output>>& chunks)
      : context_(context), order_(std::move(order)), chunks_(chunks), size_(order_.size()) {}

  // The sums of all chunks, by tower, then chunk.
  std::vector<std::vector<Output>> Run() const {
    std::vector<std::vector<Output>> results(size_, std::vector<Output>(size_));
    for (size_t c = 0; c < size_; ++c) {
      Output value = Gather(c);
      results[TowerAt(c)][c] = value;
      for (size_t hop = 1; hop < size_; ++hop) {
        // From neighbour to neighbour: an Identity on a tower's device is a stop on the way.
        value = ops::Identity(On(c + hop).Named("pass_on"), value);
        results[TowerAt(c + hop)][c] = value;
      }
    }
    return results;
  }

 private:
  size_t TowerAt(size_t place) const { return static_cast<size_t>(order_[place % size_]); }
  Scope On(size_t place) const { return context_.OnTower(static_cast<int>(TowerAt(place))); }

  // Chunk c starts at the place behind c and collects the others' until it is complete at c.
  Output Gather(size_t c) const {
    Output sum = chunks_[TowerAt(c + 1)][c];
    for (size_t hop = 2; hop <= size_; ++hop)
      sum = ScaledSum(On(c + hop).WithName("collect"), {sum, chunks_[TowerAt(c + hop)][c]}, 1);
    return ScaledSum(On(c), {sum}, context_.scale);
  }

  const ExchangeContext& context_;
  std::vector<int> order_;
  const std::vector<std::vector<Output>>& chunks_;
  size_t size_;
};

std::vector<int> Rotated(const std::vector<int>& order, size_t by) {
  std::vector<int> rotated;
  for (size_t i = 0; i < order.size(); ++i) rotated.push_back(order[(i + by) % order.size()]);
  return rotated;
}

std::vector<int> Numbers(int count) {
  std::vector<int> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// A vector with zeros behind it, up to this many elements.
Output Padded(const Scope& scope, Output x, int64_t size) {
  const int64_t missing = size - scope.shape(x).num_elements();
  return missing == 0 ? x : ops::Pad(scope.Named("pad"), x, {{0, missing}});
}

Output WithoutPadding(const Scope& scope, Output x, int64_t size) {
  return scope.shape(x).num_elements() == size ? x : ops::Slice(scope.Named("unpad"), x, {0}, {size});
}

}  // namespace

AllReduce Ring(int64_t rings, std::vector<int> order) {
  return [rings, order = std::move(order)](const ExchangeContext& context, const Parts& parts, int64_t) -> Parts {
    if (parts.size() == 1) return {ScaledSum(context.OnTower(0), parts, context.scale)};
    const std::vector<int> start = order.empty() ? Numbers(context.num_towers()) : order;
    const Shape shape = context.scope.shape(parts[0]);
    const int64_t n = context.num_towers(), num_chunks = rings * n;
    const int64_t chunk = (shape.num_elements() + num_chunks - 1) / num_chunks;
    std::vector<std::vector<Output>> pieces;  // by tower, then ring and chunk
    for (int t = 0; t < n; ++t) {
      const Scope scope = context.OnTower(t);
      const Output whole = Padded(scope, Flat(scope, parts[static_cast<size_t>(t)]), chunk * num_chunks);
      pieces.push_back(Cut(scope, whole, std::vector<int64_t>(static_cast<size_t>(num_chunks), chunk)));
    }
    std::vector<std::vector<Output>> sums(parts.size());
    for (int64_t r = 0; r < rings; ++r) {
      std::vector<std::vector<Output>> mine;
      for (const auto& of_tower : pieces) mine.emplace_back(of_tower.begin() + r * n, of_tower.begin() + (r + 1) * n);
      const auto done = RingOfChunks(context, Rotated(start, static_cast<size_t>(r * n / rings)), mine).Run();
      for (size_t t = 0; t < sums.size(); ++t) sums[t].insert(sums[t].end(), done[t].begin(), done[t].end());
    }
    Parts results;
    for (int t = 0; t < n; ++t) {
      const Scope scope = context.OnTower(t);
      const Output whole = Join(scope, sums[static_cast<size_t>(t)]);
      results.push_back(Unflat(scope, WithoutPadding(scope, whole, shape.num_elements()), shape));
    }
    return results;
  };
}

}  // namespace muster::train
