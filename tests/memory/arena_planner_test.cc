#include "memory/arena_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace muster {
namespace {

using ::testing::HasSubstr;

TEST(ArenaPlanner, NoValuesNeedNoArena) {
  const ArenaPlan plan = PlanArena({});
  EXPECT_EQ(plan.arena_bytes, 0);
  EXPECT_EQ(plan.ratio(), 1.0);
}

TEST(ArenaPlanner, ValuesThatShareAStepAreApartEvenIfOnlyAtTheirEnds) {
  const std::vector<ArenaValue> values = {{100, 0, 1}, {100, 1, 2}, {100, 2, 3}};
  const ArenaPlan plan = PlanArena(values);
  EXPECT_EQ(VerifyArena(values, plan), "");
  EXPECT_EQ(plan.lower_bound, 256);  // two at a time, 128 bytes each
  EXPECT_EQ(plan.arena_bytes, 256);
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
}

TEST(ArenaPlanner, OffsetsFollowTheAlignmentAndZeroBytesTakeNone) {
  const std::vector<ArenaValue> values = {{1, 0, 9}, {0, 0, 9}, {65, 0, 9}, {64, 0, 9}};
  for (const int64_t alignment : {64, 256, 4096}) {
    const ArenaPlan plan = PlanArena(values, alignment);
    EXPECT_EQ(VerifyArena(values, plan, alignment), "");
    EXPECT_EQ(plan.arena_bytes, alignment == 64 ? 256 : 3 * alignment);
  }
}

TEST(ArenaPlanner, AGroupSharesOneStorageFromItsFirstDefinitionToItsLastUse) {
  // 0 and 1 are one storage (an in-place operation); 2 lives while either does.
  const std::vector<ArenaValue> values = {{64, 0, 1, 7}, {128, 1, 4, 7}, {64, 3, 4}, {128, 5, 6}};
  const ArenaPlan plan = PlanArena(values);
  EXPECT_EQ(VerifyArena(values, plan), "");
  EXPECT_EQ(plan.offsets[0], plan.offsets[1]);
  EXPECT_EQ(plan.lower_bound, 192);
  EXPECT_EQ(plan.arena_bytes, 192);
}

TEST(ArenaPlanner, AGroupIsKeptBetweenItsMembersLives) {
  // The group is idle in steps 3 to 6, but its bytes are not free.
  const std::vector<ArenaValue> values = {{64, 0, 2, 0}, {64, 7, 9, 0}, {64, 4, 5}};
  const ArenaPlan plan = PlanArena(values);
  EXPECT_EQ(VerifyArena(values, plan), "");
  EXPECT_EQ(plan.arena_bytes, 128);
}

TEST(ArenaPlanner, TheSameInputGivesTheSamePlan) {
  std::mt19937 random(3);
  std::vector<ArenaValue> values;
  for (int i = 0; i < 300; ++i) {
    const int first = static_cast<int>(random() % 300);
    values.push_back({static_cast<int64_t>(random() % 5000), first, first + static_cast<int>(random() % 40)});
  }
  EXPECT_EQ(PlanArena(values).offsets, PlanArena(values).offsets);
}

TEST(ArenaPlanner, RandomLifetimesAreAlwaysPlannedWithoutOverlap) {
  std::mt19937 random(11);
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  for (int round = 0; round < 200; ++round) {
    const int count = 1 + below(120), steps = 1 + below(100), span = 1 + below(steps);
    std::vector<ArenaValue> values;
    for (int i = 0; i < count; ++i) {
      const int first = below(steps);
      const int group = below(4) == 0 ? below(10) : ArenaValue::kNoGroup;
      values.push_back({below(8) == 0 ? 0 : below(1 << (1 + below(16))), first, first + below(span), group});
    }
    const ArenaPlan plan = PlanArena(values);
    ASSERT_EQ(VerifyArena(values, plan), "") << "round " << round;
    ASSERT_GE(plan.arena_bytes, plan.lower_bound);
  }
}

TEST(ArenaVerifier, NamesTheViolation) {
  const std::vector<ArenaValue> values = {{64, 0, 2}, {64, 2, 3}, {64, 5, 6, 1}, {64, 6, 7, 1}};
  ArenaPlan plan;
  plan.arena_bytes = 192;
  plan.offsets = {0, 64, 0, 0};
  EXPECT_EQ(VerifyArena(values, plan), "");
  plan.offsets = {0, 0, 0, 0};
  EXPECT_EQ(VerifyArena(values, plan),
            "value 0 (steps 0 to 2, bytes 0 to 64) and value 1 (steps 2 to 3, bytes 0 to 64) overlap");
  plan.offsets = {0, 64, 0, 64};
  EXPECT_THAT(VerifyArena(values, plan), HasSubstr("of one group but apart"));
  plan.offsets = {0, 160, 0, 0};
  EXPECT_THAT(VerifyArena(values, plan), HasSubstr("not aligned"));
  plan.offsets = {0, 192, 0, 0};
  EXPECT_THAT(VerifyArena(values, plan), HasSubstr("outside the arena"));
  plan.offsets = {0};
  EXPECT_THAT(VerifyArena(values, plan), HasSubstr("1 offsets for 4 values"));
}

}  // namespace
}  // namespace muster
