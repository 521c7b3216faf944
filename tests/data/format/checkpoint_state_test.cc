#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/format/checkpoint_state.h"

#include "tests/data/error_of.h"
#include "tests/data/format/files.h"
#include "tests/testing/idx_files.h"

namespace muster::data {
namespace {

using ::testing::HasSubstr;

TEST(CheckpointStateFile, WhatTensorFlowWroteIsReadAndWrittenTheSame) {
  const CheckpointState state = ReadCheckpointState(GoldenPath("ckpt/several"));
  EXPECT_EQ(state.newest, "model.ckpt-50");
  EXPECT_EQ(state.all, (std::vector<std::string>{"model.ckpt-30", "model.ckpt-40", "model.ckpt-50"}));
  EXPECT_EQ(CheckpointStateText(state), ReadFile(GoldenPath("ckpt/several/checkpoint")));
}

TEST(CheckpointStateFile, NamesWithQuotesAndUmlautsComeBack) {
  const testing::TempFolder folder;
  WriteCheckpointState(folder.path().string(), {"\"Über\\weg\"-1", {"\"Über\\weg\"-1"}});
  EXPECT_EQ(ReadCheckpointState(folder.path().string()).newest, "\"Über\\weg\"-1");
}

TEST(CheckpointStateFile, DamageIsNamedWithItsLine) {
  EXPECT_THAT(ErrorOf([] { ParseCheckpointState("model_checkpoint_path: \"a\"\nall_model: 3\n", "d/checkpoint"); }),
              HasSubstr("d/checkpoint: line 2"));
  EXPECT_THAT(ErrorOf([] { ParseCheckpointState("", "d/checkpoint"); }),
              HasSubstr("d/checkpoint: names no checkpoint"));
  EXPECT_THAT(ErrorOf([] { ParseCheckpointState(std::string("\0\xff\x01", 3), "c"); }), HasSubstr("c: line 1"));
}

TEST(CheckpointStateFile, TheNewestCountsEvenIfTheListLacksIt) {
  EXPECT_EQ(ParseCheckpointState("model_checkpoint_path: \"b\" all_model_checkpoint_paths: \"a\"", "c").all,
            (std::vector<std::string>{"a", "b"}));
}

TEST(CheckpointStateFile, RelativePathsAreBelowTheFolder) {
  EXPECT_EQ(ResolveCheckpoint("d", "m-1"), "d/m-1");
  EXPECT_EQ(ResolveCheckpoint("d", "/e/m-1"), "/e/m-1");
}

}  // namespace
}  // namespace muster::data
