#include "train/memory_fit.h"

#include <gtest/gtest.h>

#include "muster/error.h"

namespace muster::train {
namespace {

constexpr int64_t kMiB = 1 << 20;

// A device of "limit" MiB and a program that needs fixed + batch * per_image MiB of it.
struct Linear {
  int64_t fixed, per_image, limit;
  mutable int plans = 0;
  MemoryNeeds operator()(int64_t batch) const {
    ++plans;
    return {{"/device:GPU:0", (fixed + batch * per_image) * kMiB, limit * kMiB}};
  }
};

std::string MessageOf(const MemoryNeeds& needs, const FitQuestion& question) {
  try {
    CheckFits(needs, question);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kResourceExhausted);
    return error.what();
  }
  return "";
}

TEST(MemoryFit, TheLargestBatchIsFoundFromAboveAndFromBelowWithFewPlans) {
  const Linear linear{1000, 10, 2005};
  for (int64_t start : {1, 50, 100, 101, 200, 5000}) {
    linear.plans = 0;
    EXPECT_EQ(LargestBatch(start, 1 << 20, std::ref(linear)), 100) << start;
    EXPECT_LE(linear.plans, 6) << start;
  }
}

TEST(MemoryFit, TheLargestBatchIsAtMostTheOneGiven) {
  const Linear linear{1000, 10, 2005};
  EXPECT_EQ(LargestBatch(8, 64, std::ref(linear)), 64);
}

TEST(MemoryFit, ZeroMeansThatNotOneImageFits) {
  const Linear linear{3000, 10, 2000};
  EXPECT_EQ(LargestBatch(64, 1 << 20, std::ref(linear)), 0);
}

TEST(MemoryFit, StepsInTheMemoryDoNotLeadTheSearchAstray) {
  // Memory rises by blocks, and jumps where another algorithm takes over.
  const PlanMemory plan = [](int64_t batch) {
    const int64_t mib = 100 + (batch / 16 + 1) * 70 + (batch > 300 ? 900 : 0);
    return MemoryNeeds{{"/device:GPU:0", mib * kMiB, 2000 * kMiB}};
  };
  const int64_t largest = LargestBatch(32, 1 << 20, plan);
  EXPECT_TRUE(Fits(plan(largest)));
  EXPECT_FALSE(Fits(plan(largest + 1)));
}

TEST(MemoryFit, TheTightestOfSeveralDevicesDecides) {
  const PlanMemory plan = [](int64_t batch) {
    return MemoryNeeds{{"/device:GPU:0", batch * kMiB, 100 * kMiB}, {"/device:GPU:1", (50 + batch) * kMiB, 100 * kMiB}};
  };
  EXPECT_EQ(LargestBatch(80, 1 << 20, plan), 50);
  EXPECT_NE(MessageOf(plan(80), {.batch_size = 80, .plan = plan}).find("/device:GPU:1"), std::string::npos);
}

TEST(MemoryFit, WhatFitsIsNotRefused) {
  const Linear linear{1000, 10, 2000};
  EXPECT_EQ(MessageOf(linear(100), {.batch_size = 100, .plan = std::ref(linear)}), "");
}

// The images alone were too much: a larger batch would seem to need less than one that was planned.
TEST(MemoryFit, WhatIsOnlyKnownFromBelowIsNamedAsSuch) {
  const Linear linear{1000, 10, 2005};
  EXPECT_EQ(
      MessageOf({{"the host", 4000 * kMiB, 2005 * kMiB}},
                {.batch_size = 400, .plan = std::ref(linear), .first_batch = 1}),
      "--batch_size=400 needs more than 3.91 GiB of memory on the host, which has 1.96 GiB; --batch_size=100 fits");
}

TEST(MemoryFit, ARefusalSaysWhatIsNeededWhatThereIsAndWhatWouldFit) {
  const Linear linear{1000, 10, 2005};
  EXPECT_EQ(MessageOf(linear(400), {.batch_size = 400, .plan = std::ref(linear)}),
            "--batch_size=400 needs 4.88 GiB of memory on /device:GPU:0, which has 1.96 GiB; --batch_size=100 fits");
}

TEST(MemoryFit, ARefusalSaysWhatRecomputationWouldGain) {
  const Linear linear{1000, 10, 2005}, recomputed{1000, 5, 2005};
  FitQuestion question{.batch_size = 400, .plan = std::ref(linear), .plan_recomputed = std::ref(recomputed)};
  EXPECT_NE(MessageOf(linear(400), question).find("--batch_size=100 fits, with --recompute=auto about 201"),
            std::string::npos);
  int64_t tried = 0;  // a promise is one that was tried
  question.plan_to_fit = [&](int64_t batch) { return tried = batch, recomputed(batch); };
  MessageOf(linear(400), question);
  EXPECT_EQ(tried, 201);
  question.batch_size = 150;
  EXPECT_NE(MessageOf(linear(150), question).find("and so does this one with --recompute=auto"), std::string::npos);
}

TEST(MemoryFit, WhatDoesNotShrinkWithTheBatchIsNeverPromised) {
  // The host lacks memory whatever the batch is; only the card's need depends on it.
  const PlanMemory plan = [](int64_t batch) {
    return MemoryNeeds{{"/device:GPU:0", batch * kMiB, 100 * kMiB}, {"the host", 3 * kMiB, 1 * kMiB}};
  };
  for (int64_t batch : {1, 4, 400}) {
    const std::string message = MessageOf(plan(batch), {.batch_size = batch, .plan = plan, .plan_recomputed = plan});
    EXPECT_NE(message.find("; not even a batch of one image fits"), std::string::npos) << message;
    EXPECT_EQ(message.find("recompute"), std::string::npos) << message;
  }
}

TEST(MemoryFit, RecomputationAloneCanMakeImagesFit) {
  const PlanMemory plan = [](int64_t batch) { return MemoryNeeds{{"the host", (120 + batch) * kMiB, 100 * kMiB}}; };
  const PlanMemory recomputed = [](int64_t batch) {
    return MemoryNeeds{{"the host", (80 + batch) * kMiB, 100 * kMiB}};
  };
  const auto message = [&](int64_t batch) {
    return MessageOf(plan(batch), {.batch_size = batch, .plan = plan, .plan_recomputed = recomputed});
  };
  EXPECT_NE(message(1).find("; not even a batch of one image fits; with --recompute=auto this one does"),
            std::string::npos)
      << message(1);
  EXPECT_NE(message(50).find("; not even a batch of one image fits; with --recompute=auto about 20 do"),
            std::string::npos)
      << message(50);
}

TEST(MemoryFit, ARefusalNamesExchangeBuffers) {
  const PlanMemory plan = [](int64_t batch) {
    return MemoryNeeds{{"/device:GPU:0", batch * kMiB, 100 * kMiB, 30 * kMiB}};
  };
  EXPECT_NE(MessageOf(plan(200), {.batch_size = 200, .plan = plan}).find("30.0 MiB of it are exchange buffers"),
            std::string::npos);
}

TEST(MemoryFit, AModelThatNeverFitsSaysSo) {
  const Linear linear{1000, 10, 500};
  const std::string message =
      MessageOf(linear(64), {.flag = "eval_batch_size", .batch_size = 64, .plan = std::ref(linear)});
  EXPECT_NE(message.find("not even a batch of one image fits"), std::string::npos) << message;
  EXPECT_NE(message.find("--eval_batch_size=64"), std::string::npos) << message;
}

TEST(MemoryFit, CpuDevicesShareTheHostAndPlansShareVariables) {
  PlanStats train, evaluate;
  for (PlanStats* plan : {&train, &evaluate})
    plan->devices = {{.device = "/device:CPU:0", .variable_bytes = 100, .peak_bytes = 150},
                     {.device = "/device:CPU:1", .variable_bytes = 10, .peak_bytes = 40},
                     {.device = "/device:GPU:0", .variable_bytes = 7, .channel_bytes = 3, .peak_bytes = 17}};
  const std::vector<DeviceInfo> devices{{.name = "/device:CPU:0"},
                                        {.name = "/device:CPU:1"},
                                        {.name = "/job:localhost/replica:0/task:0/device:GPU:0",
                                         .physical_id = 0,
                                         .uses_host_memory = false,
                                         .memory_limit = 1000}};
  const MemoryNeeds needs = NeedsOf({&train, &evaluate}, devices, 500);
  ASSERT_EQ(needs.size(), 2u);
  EXPECT_EQ(needs[0].where, "/device:GPU:0");
  EXPECT_EQ(needs[0].bytes, 17 + 10);
  EXPECT_EQ(needs[0].exchange_bytes, 6);
  EXPECT_EQ(needs[1].where, "the host");
  EXPECT_EQ(needs[1].bytes, 150 + 40 + 50 + 30);
  EXPECT_EQ(needs[1].limit, 500);
}

TEST(MemoryFit, ASimulatedCardCountsAgainstItsOwnLimitAndTheHosts) {
  PlanStats plan;
  plan.devices = {{.device = "/device:CPU:0", .peak_bytes = 150},
                  {.device = "/device:GPU:0", .channel_bytes = 3, .peak_bytes = 300},
                  {.device = "/device:GPU:1", .channel_bytes = 4, .peak_bytes = 400}};
  const std::vector<DeviceInfo> devices{{.name = "/device:CPU:0"},
                                        {.name = "/device:GPU:0", .physical_id = 0, .memory_limit = 1000},
                                        {.name = "/device:GPU:1", .physical_id = 1, .memory_limit = 1000}};
  const MemoryNeeds needs = NeedsOf(plan, devices, 800);
  ASSERT_EQ(needs.size(), 3u);
  EXPECT_EQ(needs[1].bytes, 400);
  EXPECT_EQ(needs[2].bytes, 850);
  EXPECT_EQ(needs[2].exchange_bytes, 7);
  EXPECT_EQ(HostBytes(needs), 850);
  EXPECT_FALSE(Fits(needs));
}

// What it finds is run a little later, when other programs may have taken some of the memory.
TEST(MemoryFit, TheSearchOfTheLargestBatchLeavesALittleOfWhatIsFree) {
  const int64_t free = HostMemoryLimit(), sparing = SparingHostLimitMb(0) << 20;
  EXPECT_LT(static_cast<double>(sparing), 0.99 * static_cast<double>(free));
  EXPECT_GT(static_cast<double>(sparing), 0.9 * static_cast<double>(free));
  EXPECT_EQ(SparingHostLimitMb(10), 10);
}

}  // namespace
}  // namespace muster::train
