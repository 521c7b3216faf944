#include "data/batch.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "data/shuffle.h"
#include "muster/error.h"

namespace muster::data {

namespace {

Tensor RowsOf(const Tensor& tensor, const std::shared_ptr<Buffer>& bytes, int64_t begin, int64_t end) {
  MUSTER_CHECK(bytes != nullptr && begin >= 0 && begin <= end && end <= tensor.shape()[0]);
  const Shape row = tensor.shape().Erased(0);
  const TensorDesc desc{tensor.dtype(), row.Inserted(0, end - begin), {}};
  return Tensor(desc, bytes,
                static_cast<size_t>(begin) * static_cast<size_t>(row.num_elements()) * SizeOf(tensor.dtype()));
}

}  // namespace

Tensor Batch::ImageRows(int64_t begin, int64_t end) const { return RowsOf(images, image_bytes, begin, end); }
Tensor Batch::LabelRows(int64_t begin, int64_t end) const { return RowsOf(labels, label_bytes, begin, end); }

BatchSource::BatchSource(const Dataset& dataset, int64_t batch_size) : dataset_(dataset), batch_size_(batch_size) {
  if (batch_size < 1) throw InvalidArgument(fmt::format("batch size {}: at least 1 was expected", batch_size));
}

Batch BatchSource::Allocate() const {
  const TensorDesc images{DType::kFloat32, dataset_.image_shape().Inserted(0, batch_size_), {}};
  const TensorDesc labels{DType::kInt32, {batch_size_}, {}};
  Batch batch;
  batch.image_bytes = Buffer::OnHost(static_cast<size_t>(images.byte_size()));
  batch.label_bytes = Buffer::OnHost(static_cast<size_t>(labels.byte_size()));
  batch.images = Tensor(images, batch.image_bytes);
  batch.labels = Tensor(labels, batch.label_bytes);
  return batch;
}

void BatchSource::FillRow(Batch* batch, int64_t row, int64_t index, uint64_t epoch) const {
  const auto elements = static_cast<size_t>(dataset_.image_elements());
  const auto at = static_cast<size_t>(row);
  batch->labels.data<int32_t>()[at] =
      dataset_.Get(index, epoch, batch->images.data<float>().subspan(at * elements, elements));
}

void BatchSource::Fill(int64_t number, Batch* batch) const {
  FillRows(number, 0, batch_size_, batch);
  batch->valid = Valid(number);
}

TrainBatches::TrainBatches(const Dataset& dataset, int64_t batch_size, uint64_t seed, Shard shard)
    : BatchSource(dataset, batch_size), seed_(seed), shard_(shard) {
  MUSTER_CHECK(shard_.index >= 0 && shard_.index < shard_.count);
  if (dataset.size() < 1) throw InvalidArgument("a training set without images");
}

void TrainBatches::FillRows(int64_t number, int64_t begin, int64_t end, Batch* batch) const {
  const int64_t first = (number * shard_.count + shard_.index) * batch_size() + begin;
  int64_t epoch = first / dataset().size();
  int64_t position = first % dataset().size();
  for (int64_t row = begin; row < end;) {
    const Permutation order(seed_, static_cast<uint64_t>(epoch), dataset().size());
    for (; row < end && position < dataset().size(); ++row, ++position)
      FillRow(batch, row, order(position), static_cast<uint64_t>(epoch));
    ++epoch;
    position = 0;
  }
}

int64_t TrainBatches::BatchesOfEpochs(int64_t epochs) const {
  const int64_t images = batch_size() * shard_.count;
  return (epochs * dataset().size() + images - 1) / images;
}

EvalBatches::EvalBatches(const Dataset& dataset, int64_t batch_size) : BatchSource(dataset, batch_size) {}

int64_t EvalBatches::count() const { return (dataset().size() + batch_size() - 1) / batch_size(); }

int64_t EvalBatches::Valid(int64_t number) const {
  return std::min(batch_size(), dataset().size() - number * batch_size());
}

void EvalBatches::FillRows(int64_t number, int64_t begin, int64_t end, Batch* batch) const {
  MUSTER_CHECK(number >= 0 && number < count());
  const int64_t valid = Valid(number);
  for (int64_t row = begin; row < std::min(end, valid); ++row) FillRow(batch, row, number * batch_size() + row, 0);
  const int64_t blank = std::max(begin, valid), blanks = std::max<int64_t>(end - blank, 0),
                elements = dataset().image_elements();
  std::ranges::fill(batch->images.data<float>().subspan(static_cast<size_t>(blank * elements),
                                                        static_cast<size_t>(blanks * elements)),
                    0.0f);
  std::ranges::fill(batch->labels.data<int32_t>().subspan(static_cast<size_t>(blank), static_cast<size_t>(blanks)), 0);
}

RepeatedBatches::RepeatedBatches(const Dataset& dataset, int64_t batch_size, int64_t count)
    : BatchSource(dataset, batch_size), count_(count) {
  if (dataset.size() < 1) throw InvalidArgument("an evaluation set without images");
}

void RepeatedBatches::FillRows(int64_t number, int64_t begin, int64_t end, Batch* batch) const {
  for (int64_t row = begin; row < end; ++row) FillRow(batch, row, (number * batch_size() + row) % dataset().size(), 0);
}

}  // namespace muster::data
