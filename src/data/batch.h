#pragma once

#include <cstdint>
#include <memory>

#include "data/dataset.h"
#include "muster/tensor.h"

namespace muster::data {

// Input of one step.
struct Batch {
  Tensor images;      // float32, [batch, height, width, channels]
  Tensor labels;      // int32, [batch]
  int64_t valid = 0;  // the first "valid" rows count; the rest, all zero, only fill up the static shape

  // The memory of both tensors, for Rows.
  std::shared_ptr<Buffer> image_bytes = nullptr;
  std::shared_ptr<Buffer> label_bytes = nullptr;

  // Rows begin .. end - 1 as views of the same memory: the share of one tower. For batches that a BatchSource
  // allocated.
  Tensor ImageRows(int64_t begin, int64_t end) const;
  Tensor LabelRows(int64_t begin, int64_t end) const;
};

// A numbered sequence of batches, each a function of its number alone. Immutable: Fill may be called from any thread,
// in any order. The data set must outlive it.
class BatchSource {
 public:
  BatchSource(const Dataset& dataset, int64_t batch_size);
  virtual ~BatchSource() = default;

  // How many batches there are; -1 without end.
  virtual int64_t count() const = 0;

  // How many of a batch's rows count: the first ones.
  virtual int64_t Valid(int64_t /*number*/) const { return batch_size_; }
  // Fills rows begin .. end - 1 of a batch. Several threads may fill different rows of one batch.
  virtual void FillRows(int64_t number, int64_t begin, int64_t end, Batch* batch) const = 0;
  // All rows, and "valid".
  void Fill(int64_t number, Batch* batch) const;

  // A batch of the right shapes.
  Batch Allocate() const;
  int64_t batch_size() const { return batch_size_; }
  const Dataset& dataset() const { return dataset_; }

 protected:
  // Writes sample "index" into row "row" of the batch.
  void FillRow(Batch* batch, int64_t row, int64_t index, uint64_t epoch) const;

 private:
  const Dataset& dataset_;
  int64_t batch_size_;
};

// Which share of the training input a process reads: part "index" of "count" equal ones.
struct Shard {
  int64_t index = 0;
  int64_t count = 1;
};

// Training input. The samples of epoch 0, 1, 2 … in the order of Permutation(seed, epoch) form one endless sequence,
// and batch k is its samples k * batch_size onwards. So every batch is full, as the graph's static shapes ask for; what
// an epoch leaves over after its last full batch begins the next batch, which the following epoch fills up; and no
// sample is lost or doubled in an epoch. With several shards the sequence is dealt out in turn: shard i of n takes
// batches i, n + i, 2n + i …, so that all of them together read in a step what one process with n times the batch size
// would.
class TrainBatches : public BatchSource {
 public:
  TrainBatches(const Dataset& dataset, int64_t batch_size, uint64_t seed, Shard shard = {});
  int64_t count() const override { return -1; }
  void FillRows(int64_t number, int64_t begin, int64_t end, Batch* batch) const override;

  // How many batches have been used up when the first "epochs" epochs are complete.
  int64_t BatchesOfEpochs(int64_t epochs) const;

 private:
  uint64_t seed_;
  Shard shard_;
};

// Every sample once, in order; the last batch is filled up with zeros that "valid" leaves out.
class EvalBatches : public BatchSource {
 public:
  EvalBatches(const Dataset& dataset, int64_t batch_size);
  int64_t count() const override;
  int64_t Valid(int64_t number) const override;
  void FillRows(int64_t number, int64_t begin, int64_t end, Batch* batch) const override;
};

// "count" batches (-1: without end) of the samples in order, from the first again after the last: how tf_cnn_benchmarks
// reads validation images.
class RepeatedBatches : public BatchSource {
 public:
  RepeatedBatches(const Dataset& dataset, int64_t batch_size, int64_t count = -1);
  int64_t count() const override { return count_; }
  void FillRows(int64_t number, int64_t begin, int64_t end, Batch* batch) const override;

 private:
  int64_t count_;
};

}  // namespace muster::data
