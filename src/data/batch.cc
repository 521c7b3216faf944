#include "data/batch.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "data/shuffle.h"
#include "muster/error.h"

namespace muster::data {

BatchSource::BatchSource(const Dataset& dataset, int64_t batch_size) : dataset_(dataset), batch_size_(batch_size) {
  if (batch_size < 1) throw InvalidArgument(fmt::format("batch size {}: at least 1 was expected", batch_size));
}

Batch BatchSource::Allocate() const {
  return {Tensor(DType::kFloat32, dataset_.image_shape().Inserted(0, batch_size_)), Tensor(DType::kInt32, {batch_size_}), 0};
}

void BatchSource::FillRow(Batch* batch, int64_t row, int64_t index, uint64_t epoch) const {
  const auto elements = static_cast<size_t>(dataset_.image_elements());
  const auto at = static_cast<size_t>(row);
  batch->labels.data<int32_t>()[at] =
      dataset_.Get(index, epoch, batch->images.data<float>().subspan(at * elements, elements));
}

TrainBatches::TrainBatches(const Dataset& dataset, int64_t batch_size, uint64_t seed) : BatchSource(dataset, batch_size), seed_(seed) {
  if (dataset.size() < 1) throw InvalidArgument("a training set without images");
}

void TrainBatches::Fill(int64_t number, Batch* batch) const {
  int64_t epoch = number * batch_size() / dataset().size();
  int64_t position = number * batch_size() % dataset().size();
  for (int64_t row = 0; row < batch_size();) {
    const Permutation order(seed_, static_cast<uint64_t>(epoch), dataset().size());
    for (; row < batch_size() && position < dataset().size(); ++row, ++position)
      FillRow(batch, row, order(position), static_cast<uint64_t>(epoch));
    ++epoch;
    position = 0;
  }
  batch->valid = batch_size();
}

int64_t TrainBatches::BatchesOfEpochs(int64_t epochs) const { return (epochs * dataset().size() + batch_size() - 1) / batch_size(); }

EvalBatches::EvalBatches(const Dataset& dataset, int64_t batch_size) : BatchSource(dataset, batch_size) {}

int64_t EvalBatches::count() const { return (dataset().size() + batch_size() - 1) / batch_size(); }

void EvalBatches::Fill(int64_t number, Batch* batch) const {
  MUSTER_CHECK(number >= 0 && number < count());
  const int64_t first = number * batch_size();
  batch->valid = std::min(batch_size(), dataset().size() - first);
  for (int64_t row = 0; row < batch->valid; ++row) FillRow(batch, row, first + row, 0);
  if (batch->valid == batch_size()) return;
  const int64_t filled = batch->valid * dataset().image_elements();
  std::ranges::fill(batch->images.data<float>().subspan(static_cast<size_t>(filled)), 0.0f);
  std::ranges::fill(batch->labels.data<int32_t>().subspan(static_cast<size_t>(batch->valid)), 0);
}

}  // namespace muster::data
