#include "data/imagenet/verify_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/format/files.h"
#include "tests/testing/idx_files.h"

namespace muster::data {
namespace {

using ::testing::EndsWith;
using Lines = std::vector<std::string>;

// The golden records have 861 to 2,836 bytes.
constexpr int64_t kLargestRecord = 2836;

SystemMemory Free(int64_t bytes) { return {.total = int64_t{1} << 40, .available = bytes}; }

class VerifyPacked : public ::testing::Test {
 protected:
  VerifyPacked() : records_(ReadFile(GoldenPath("tfrecord/train-00000-of-00001"))) {}
  VerifiedImages Verify(const SystemMemory& memory) { return VerifyImages(folder_.path(), Subset::kTrain, 1001, "--data_dir", 4, memory); }

  testing::TempFolder folder_;
  std::string records_;
};

TEST_F(VerifyPacked, LackOfMemoryIsNoDamage) {
  folder_.Write("train-00000-of-00002", testing::Gzip(records_));
  folder_.Write("train-00001-of-00002", records_);
  const VerifiedImages found = Verify(Free(0));
  EXPECT_EQ(found.broken, Lines());
  ASSERT_EQ(found.unread.size(), 1u);
  EXPECT_THAT(found.unread[0], EndsWith("train-00000-of-00002: record 0 at byte 0: the record of 1724 bytes does not fit into the memory that is left; "
                                        "unpack the files on disk (gunzip) first"));
  EXPECT_EQ(found.whole, 12);  // those of the file that is not packed
}

// The largest record fits alone: the threads wait for each other.
TEST_F(VerifyPacked, AllThreadsShareOneBudget) {
  constexpr int kFiles = 6;
  for (int i = 0; i < kFiles; ++i) folder_.Write("train-0000" + std::to_string(i) + "-of-00006", testing::Gzip(records_));
  const VerifiedImages found = Verify(Free(2 * kLargestRecord));
  EXPECT_EQ(found.whole, 12 * kFiles);
  EXPECT_EQ(found.broken, Lines());
  EXPECT_EQ(found.unread, Lines());
  EXPECT_EQ(Verify(Free(2 * (kLargestRecord - 1))).unread.size(), size_t{kFiles});
}

// What a broken record had of the budget is there for the next one.
TEST_F(VerifyPacked, DamageGivesItsMemoryBack) {
  records_[100] = static_cast<char>(records_[100] ^ 1);
  folder_.Write("train-00000-of-00001", testing::Gzip(records_));
  const VerifiedImages found = Verify(Free(2 * kLargestRecord));
  EXPECT_EQ(found.whole, 11);
  EXPECT_EQ(found.broken.size(), 1u);
  EXPECT_EQ(found.unread, Lines());
}

}  // namespace
}  // namespace muster::data
