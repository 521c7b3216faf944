#include "data/batch.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/shuffle.h"
#include "muster/error.h"
#include "tests/data/made_up_dataset.h"

namespace muster::data {
namespace {

using ::testing::ElementsAre;

std::vector<int64_t> Order(uint64_t seed, uint64_t epoch, int64_t size) {
  const Permutation permutation(seed, epoch, size);
  std::vector<int64_t> order;
  for (int64_t i = 0; i < size; ++i) order.push_back(permutation(i));
  return order;
}

TEST(Permutation, HoldsEveryIndexOnceForEverySize) {
  for (const int64_t size : {1, 2, 3, 4, 5, 7, 10, 16, 17, 100, 1000, 1024, 60000}) {
    for (uint64_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<int64_t> order = Order(7, epoch, size);
      std::sort(order.begin(), order.end());
      for (int64_t i = 0; i < size; ++i) ASSERT_EQ(order[static_cast<size_t>(i)], i) << size;
    }
  }
}

TEST(Permutation, ChangesWithSeedAndEpoch) {
  EXPECT_EQ(Order(1, 0, 1000), Order(1, 0, 1000));
  EXPECT_NE(Order(1, 0, 1000), Order(1, 1, 1000));
  EXPECT_NE(Order(1, 0, 1000), Order(2, 0, 1000));
}

// Over many epochs each sample must come to each position equally often: chi-squared with 81 degrees of freedom has
// mean 81 and standard deviation 12.7.
TEST(Permutation, PutsEverySampleAtEveryPositionEquallyOften) {
  constexpr int kSize = 10, kEpochs = 10000;
  std::vector<int> counts(kSize * kSize);
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    const std::vector<int64_t> order = Order(5, static_cast<uint64_t>(epoch), kSize);
    for (int i = 0; i < kSize; ++i) ++counts[static_cast<size_t>(i * kSize + order[static_cast<size_t>(i)])];
  }
  double chi_squared = 0;
  for (const int count : counts)
    chi_squared += (count - kEpochs / kSize) * (count - kEpochs / kSize) / double{kEpochs / kSize};
  EXPECT_LT(chi_squared, 81 + 5 * 12.7);
}

// Neighbours in the file must not stay neighbours: the correlation of successive indices has deviation 1/sqrt(n).
TEST(Permutation, SuccessiveSamplesAreUncorrelated) {
  constexpr int64_t kSize = 10000;
  const std::vector<int64_t> order = Order(1, 0, kSize);
  const double mean = (kSize - 1) / 2.0;
  double covariance = 0, variance = 0;
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    covariance += (static_cast<double>(order[i]) - mean) * (static_cast<double>(order[i + 1]) - mean);
    variance += (static_cast<double>(order[i]) - mean) * (static_cast<double>(order[i]) - mean);
  }
  EXPECT_LT(std::abs(covariance / variance), 0.05);
}

std::vector<int64_t> IndicesOf(const Batch& batch) {
  const auto images = batch.images.data<float>();
  return {images.begin(), images.end()};
}

TEST(TrainBatches, EveryEpochHoldsEverySampleOnceAndBatchesAreAlwaysFull) {
  constexpr int64_t kSize = 23, kBatch = 5, kEpochs = 7;
  const auto dataset = IndexDataset(kSize);
  const TrainBatches batches(*dataset, kBatch, 1);
  Batch batch = batches.Allocate();
  std::vector<int64_t> sequence;
  for (int64_t k = 0; k < batches.BatchesOfEpochs(kEpochs); ++k) {
    batches.Fill(k, &batch);
    EXPECT_EQ(batch.valid, kBatch);
    for (const int64_t index : IndicesOf(batch)) sequence.push_back(index);
  }
  ASSERT_GE(sequence.size(), static_cast<size_t>(kSize * kEpochs));
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const auto begin = sequence.begin() + epoch * kSize;
    EXPECT_EQ(std::vector<int64_t>(begin, begin + kSize), Order(1, static_cast<uint64_t>(epoch), kSize));
  }
}

TEST(TrainBatches, ABatchMayBeLargerThanTheDataSet) {
  const auto dataset = IndexDataset(3);
  const TrainBatches batches(*dataset, 7, 1);
  Batch batch = batches.Allocate();
  batches.Fill(0, &batch);
  std::vector<int64_t> indices = IndicesOf(batch);
  std::sort(indices.begin(), indices.begin() + 3);
  std::sort(indices.begin() + 3, indices.begin() + 6);
  indices.pop_back();
  EXPECT_THAT(indices, ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(TrainBatches, LabelsBelongToTheirImages) {
  const auto dataset = IndexDataset(50);
  const TrainBatches batches(*dataset, 8, 1);
  Batch batch = batches.Allocate();
  batches.Fill(3, &batch);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(batch.labels.data<int32_t>()[i], IndicesOf(batch)[i] % 10);
}

TEST(TrainBatches, BatchSizeZeroIsRefused) {
  const auto dataset = IndexDataset(3);
  EXPECT_THROW(TrainBatches(*dataset, 0, 1), Error);
}

TEST(EvalBatches, EverySampleComesOnceInOrderAndTheRestOfTheLastBatchIsZero) {
  const auto dataset = IndexDataset(11);
  const EvalBatches batches(*dataset, 4);
  ASSERT_EQ(batches.count(), 3);
  Batch batch = batches.Allocate();
  batches.Fill(0, &batch);
  EXPECT_THAT(IndicesOf(batch), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(batch.valid, 4);
  batches.Fill(2, &batch);
  EXPECT_THAT(IndicesOf(batch), ElementsAre(8, 9, 10, 0));
  EXPECT_EQ(batch.valid, 3);
  EXPECT_EQ(batch.labels.data<int32_t>()[3], 0);
}

TEST(RepeatedBatches, BeginAgainAfterTheLastSample) {
  const auto dataset = IndexDataset(5);
  const RepeatedBatches batches(*dataset, 3);
  Batch batch = batches.Allocate();
  batches.Fill(1, &batch);
  EXPECT_THAT(IndicesOf(batch), ElementsAre(3, 4, 0));
  EXPECT_EQ(batch.valid, 3);
}

// What makes equal global batches give equal curves: all shards of a step together read what one process would.
TEST(TrainBatches, ShardsTogetherReadTheBatchOfOneProcess) {
  const auto dataset = IndexDataset(50);
  const TrainBatches one(*dataset, 12, 9);
  Batch whole = one.Allocate();
  for (int64_t step = 0; step < 9; ++step) {
    one.Fill(step, &whole);
    std::vector<int64_t> together;
    for (int64_t i = 0; i < 3; ++i) {
      const TrainBatches shard(*dataset, 4, 9, {i, 3});
      EXPECT_EQ(shard.BatchesOfEpochs(3), one.BatchesOfEpochs(3));
      Batch part = shard.Allocate();
      shard.Fill(step, &part);
      for (const int64_t index : IndicesOf(part)) together.push_back(index);
    }
    EXPECT_EQ(together, IndicesOf(whole)) << step;
  }
}

TEST(Batch, RowsAreViewsOfTheSameMemory) {
  const auto dataset = IndexDataset(10);
  const EvalBatches batches(*dataset, 6);
  Batch batch = batches.Allocate();
  const Tensor images = batch.ImageRows(2, 5), labels = batch.LabelRows(2, 5);
  batches.Fill(0, &batch);
  EXPECT_EQ(images.shape(), (Shape{3, 1, 1, 1}));
  EXPECT_THAT(images.data<float>(), ElementsAre(2, 3, 4));
  EXPECT_THAT(labels.data<int32_t>(), ElementsAre(2, 3, 4));
}

}  // namespace
}  // namespace muster::data
