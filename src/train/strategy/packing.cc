#include "train/strategy/packing.h"

#include <algorithm>

namespace muster::train {
namespace {

std::vector<Shape> ShapesOf(const ExchangeContext& context, const std::vector<Parts>& tensors) {
  std::vector<Shape> shapes;
  for (const Parts& parts : tensors) shapes.push_back(context.scope.shape(parts[0]));
  return shapes;
}

bool IsSmall(const ExchangeContext& context, const Parts& parts, int64_t max_bytes) {
  const TensorDesc& desc = context.scope.graph()->desc(parts[0]);
  return desc.dtype == DType::kFloat32 && desc.byte_size() <= max_bytes;
}

}  // namespace

Parts Concatenate(const ExchangeContext& context, const std::vector<Parts>& tensors) {
  Parts whole;
  for (int t = 0; t < context.num_towers(); ++t) {
    const Scope scope = context.OnTower(t);
    std::vector<Output> flat;
    for (const Parts& parts : tensors) flat.push_back(Flat(scope, parts[static_cast<size_t>(t)]));
    whole.push_back(Join(scope, flat));
  }
  return whole;
}

std::vector<Parts> TakeApart(const ExchangeContext& context, const Parts& vector, const std::vector<Shape>& shapes) {
  std::vector<int64_t> sizes;
  for (const Shape& shape : shapes) sizes.push_back(shape.num_elements());
  std::vector<Parts> tensors(shapes.size());
  for (int t = 0; t < context.num_towers(); ++t) {
    const Scope scope = context.OnTower(t);
    const std::vector<Output> pieces = Cut(scope, vector[static_cast<size_t>(t)], sizes);
    for (size_t i = 0; i < shapes.size(); ++i) tensors[i].push_back(Unflat(scope, pieces[i], shapes[i]));
  }
  return tensors;
}

std::vector<Parts> CutIntoPacks(const ExchangeContext& context, const Parts& vector, int64_t num) {
  const int64_t total = context.scope.shape(vector[0]).num_elements();
  num = std::clamp<int64_t>(num, 1, std::max<int64_t>(total, 1));
  std::vector<int64_t> sizes(static_cast<size_t>(num), total / num);
  sizes.back() += total % num;
  std::vector<Parts> packs(sizes.size());
  for (int t = 0; t < context.num_towers(); ++t) {
    const std::vector<Output> pieces = Cut(context.OnTower(t), vector[static_cast<size_t>(t)], sizes);
    for (size_t p = 0; p < packs.size(); ++p) packs[p].push_back(pieces[p]);
  }
  return packs;
}

Parts JoinPacks(const ExchangeContext& context, const std::vector<Parts>& packs) { return Concatenate(context, packs); }

Ranges ExtractRanges(const std::vector<int>& numbers, int64_t limit) {
  Ranges result;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1 && static_cast<int64_t>(end - i) <= limit)
      ++end;
    if (end - i == 1) result.singles.push_back(numbers[i]);
    else result.ranges.emplace_back(numbers[i], numbers[end - 1]);
    i = end;
  }
  return result;
}

SmallPacking::SmallPacking(const ExchangeContext& context, const std::vector<Parts>& tensors, int64_t max_bytes,
                           int64_t max_group)
    : shapes_(ShapesOf(context, tensors)) {
  std::vector<int> small;
  for (int i = 0; i < static_cast<int>(tensors.size()); ++i)
    if (IsSmall(context, tensors[static_cast<size_t>(i)], max_bytes)) small.push_back(i);
  runs_ = ExtractRanges(small, max_group).ranges;
  for (int i = 0; i < static_cast<int>(tensors.size()); ++i) {
    const bool is_packed =
        std::any_of(runs_.begin(), runs_.end(), [i](const auto& run) { return run.first <= i && i <= run.second; });
    if (!is_packed) others_.push_back(i);
  }
}

std::vector<Parts> SmallPacking::Pack(const ExchangeContext& context, const std::vector<Parts>& tensors) const {
  std::vector<Parts> packed;
  for (const auto& [first, last] : runs_)
    packed.push_back(Concatenate(context, {tensors.begin() + first, tensors.begin() + last + 1}));
  for (int i : others_) packed.push_back(tensors[static_cast<size_t>(i)]);
  return packed;
}

std::vector<Parts> SmallPacking::Unpack(const ExchangeContext& context, const std::vector<Parts>& packed) const {
  std::vector<Parts> tensors(shapes_.size());
  for (size_t r = 0; r < runs_.size(); ++r) {
    const auto [first, last] = runs_[r];
    const auto apart = TakeApart(context, packed[r], {shapes_.begin() + first, shapes_.begin() + last + 1});
    std::copy(apart.begin(), apart.end(), tensors.begin() + first);
  }
  for (size_t i = 0; i < others_.size(); ++i) tensors[static_cast<size_t>(others_[i])] = packed[runs_.size() + i];
  return tensors;
}

}  // namespace muster::train
