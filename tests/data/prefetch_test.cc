#include "data/prefetch.h"

#include <atomic>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/augment.h"
#include "muster/error.h"
#include "tests/data/error_of.h"
#include "tests/data/made_up_dataset.h"

namespace muster::data {
namespace {

// Everything that a run with these options sees.
std::vector<float> Content(const BatchSource& source, const Prefetcher::Options& options, int batches) {
  Prefetcher prefetcher(source, options);
  std::vector<float> content;
  for (int i = 0; i < batches; ++i) {
    const Batch* batch = prefetcher.Next();
    for (const float value : batch->images.data<float>()) content.push_back(value);
    for (const int32_t label : batch->labels.data<int32_t>()) content.push_back(static_cast<float>(label));
  }
  return content;
}

TEST(Prefetcher, ContentDoesNotDependOnThreadsOrDepth) {
  auto raw = std::make_unique<MadeUpDataset>(
      101, Shape{5, 5, 2}, [](int64_t n, int64_t i) { return static_cast<float>((n * 31 + i) % 256); });
  const auto dataset = Augment(std::move(raw), {.flip = true, .max_shift = 2, .seed = 9});
  const TrainBatches batches(*dataset, 8, 4);
  const std::vector<float> expected = Content(batches, {.threads = 0, .depth = 1}, 60);
  for (const int threads : {1, 2, 4})
    for (const int depth : {2, 3, 8})
      EXPECT_EQ(Content(batches, {.threads = threads, .depth = depth}, 60), expected) << threads;
}

TEST(Prefetcher, EndsAfterTheLastBatchOfAFiniteSource) {
  const auto dataset = IndexDataset(10);
  const EvalBatches batches(*dataset, 4);
  for (const int threads : {0, 1, 3}) {
    Prefetcher prefetcher(batches, {.threads = threads});
    for (const int64_t valid : {4, 4, 2}) {
      const Batch* batch = prefetcher.Next();
      ASSERT_NE(batch, nullptr);
      EXPECT_EQ(batch->valid, valid);
    }
    EXPECT_EQ(prefetcher.Next(), nullptr);
    EXPECT_EQ(prefetcher.Next(), nullptr);
  }
}

TEST(Prefetcher, StartsWhereItIsTold) {
  const auto dataset = IndexDataset(100);
  const TrainBatches batches(*dataset, 4, 1);
  Batch expected = batches.Allocate();
  batches.Fill(17, &expected);
  Prefetcher prefetcher(batches, {.threads = 2, .depth = 3, .first = 17});
  const auto got = prefetcher.Next()->images.data<float>(), want = expected.images.data<float>();
  EXPECT_TRUE(std::equal(got.begin(), got.end(), want.begin()));
}

// Counts the batches in work and fails from one number on.
class CountingSource : public BatchSource {
 public:
  CountingSource(const Dataset& dataset, int64_t fails_at) : BatchSource(dataset, 1), fails_at_(fails_at) {}
  int64_t count() const override { return -1; }
  void FillRows(int64_t number, int64_t /*begin*/, int64_t /*end*/, Batch* /*batch*/) const override {
    int64_t seen = highest.load();
    while (number > seen && !highest.compare_exchange_weak(seen, number)) {
    }
    if (number >= fails_at_) throw DataLoss("batch " + std::to_string(number) + " is broken");
  }

  mutable std::atomic<int64_t> highest{-1};

 private:
  int64_t fails_at_;
};

TEST(Prefetcher, AnErrorReachesTheConsumerAtItsBatchAndStays) {
  const auto dataset = IndexDataset(10);
  const CountingSource source(*dataset, 5);
  for (const int threads : {0, 1, 3}) {
    Prefetcher prefetcher(source, {.threads = threads});
    for (int i = 0; i < 5; ++i) EXPECT_NE(prefetcher.Next(), nullptr);
    for (int again = 0; again < 2; ++again) {
      try {
        prefetcher.Next();
        FAIL();
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "batch 5 is broken");
      }
    }
  }
}

// Images large enough that each row is a piece of its own; some cannot be read.
TEST(Prefetcher, OfSeveralBadRowsInABatchTheFirstIsReportedForAnyNumberOfThreads) {
  const Shape large{128, 128, 1};
  const MadeUpDataset dataset(64, large, [](int64_t n, int64_t i) {
    if (n == 13 || n == 9 || n == 15) throw DataLoss("image " + std::to_string(n) + " is broken");
    return static_cast<float>(n + i);
  });
  const EvalBatches batches(dataset, 8);
  for (const int threads : {0, 1, 2, 5}) {
    Prefetcher prefetcher(batches, {.threads = threads});
    const Batch* first = prefetcher.Next();
    EXPECT_EQ(first->images.data<float>()[7 * 128 * 128 + 3], 10);
    EXPECT_EQ(ErrorOf([&] { prefetcher.Next(); }), "image 9 is broken") << threads;
  }
}

TEST(Prefetcher, NeverRunsFurtherAheadThanItsDepth) {
  const auto dataset = IndexDataset(10);
  const CountingSource source(*dataset, 1 << 30);
  Prefetcher prefetcher(source, {.threads = 3, .depth = 3});
  for (int64_t i = 0; i < 200; ++i) {
    prefetcher.Next();
    EXPECT_LT(source.highest.load(), i + 3);
  }
}

TEST(Prefetcher, MayBeDestroyedAtAnyTime) {
  const auto dataset = IndexDataset(10);
  const TrainBatches batches(*dataset, 4, 1);
  for (int taken = 0; taken < 6; ++taken) {
    Prefetcher prefetcher(batches, {.threads = 2, .depth = 2});
    for (int i = 0; i < taken; ++i) EXPECT_NE(prefetcher.Next(), nullptr);
  }  // joins its threads, whatever they are at
}

TEST(Prefetcher, CountsTheTimeItsCallerWaited) {
  const auto dataset = IndexDataset(10);
  const TrainBatches batches(*dataset, 4, 1);
  Prefetcher prefetcher(batches, {.threads = 0});
  EXPECT_EQ(prefetcher.wait_seconds(), 0);
  prefetcher.Next();
  EXPECT_GT(prefetcher.wait_seconds(), 0);
}

}  // namespace
}  // namespace muster::data
