#include "data/format/run_metadata.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "muster/error.h"
#include "tests/testing/golden.h"

namespace muster::data {
namespace {

TEST(GoldenRunMetadata, TensorFlowsStepIsRead) {
  const std::string path = testing::GoldenDir().string() + "/events/run_metadata_step2.pb";
  const std::vector<NodeStats> nodes = ParseRunMetadata(ReadFile(path), path);
  ASSERT_GT(nodes.size(), 5u);
  EXPECT_EQ(nodes[0].device, "/job:localhost/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(nodes[0].name, "_SOURCE");
  EXPECT_EQ(nodes[0].label, "_SOURCE = NoOp()");
  EXPECT_EQ(nodes[1].name, "global_step");
}

TEST(RunMetadata, ComesBackByDevice) {
  const std::vector<NodeStats> nodes = {{"/device:CPU:0", "a", "a = Add(float32[2])", 1000, 20, 8, 0},
                                        {"/device:CPU:1", "b", "b", 1005, 1, 4, 64},
                                        {"/device:CPU:0", "c", "c", 1020, 3, 0, 0}};
  const std::vector<NodeStats> read = ParseRunMetadata(RunMetadataBytes(nodes), "x");
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].name, "a");
  EXPECT_EQ(read[1].name, "c");
  EXPECT_EQ(read[2].name, "b");
  EXPECT_EQ(read[0].start_micros, 1000);
  EXPECT_EQ(read[0].micros, 20);
  EXPECT_EQ(read[0].output_bytes, 8);
  EXPECT_EQ(read[2].output_bytes, 4);
  EXPECT_EQ(read[2].workspace_bytes, 64);
}

TEST(RunMetadata, AnythingElseIsDataLossWithItsPlace) {
  try {
    ParseRunMetadata("\x0a\xff\xff\xff\xff\x0f", "file, record 3");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kDataLoss);
    EXPECT_STREQ(error.what(), "file, record 3: is no RunMetadata");
  }
}

}  // namespace
}  // namespace muster::data
