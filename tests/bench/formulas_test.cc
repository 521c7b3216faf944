#include <gtest/gtest.h>

#include <cmath>

#include "bench/derived.h"
#include "bench/info_block.h"
#include "bench/output.h"
#include "bench/progress.h"
#include "bench/step_stats.h"
#include "muster/error.h"

namespace muster::bench {
namespace {

TEST(StepStats, EqualStepsHaveNeitherDeviationNorJitter) {
  const PerfTiming timing = ComputePerfTiming(32, {0.5, 0.5, 0.5}, std::nullopt);
  EXPECT_DOUBLE_EQ(timing.images_per_sec, 64);
  EXPECT_DOUBLE_EQ(timing.uncertainty, 0);
  EXPECT_DOUBLE_EQ(timing.jitter, 0);
}

// Speeds 40, 20, 10, 5 of B = 10: mean time 3.75/4; median 15; deviations 25, 5, 5, 10, median 7.5.
TEST(StepStats, FollowsTheFormulasOfThePeer) {
  const PerfTiming timing = ComputePerfTiming(10, {0.25, 0.5, 1, 2}, std::nullopt);
  EXPECT_DOUBLE_EQ(timing.images_per_sec, 10 / (3.75 / 4));
  const double mean = 75.0 / 4;
  const double variance =
      (std::pow(40 - mean, 2) + std::pow(20 - mean, 2) + std::pow(10 - mean, 2) + std::pow(5 - mean, 2)) / 4;
  EXPECT_DOUBLE_EQ(timing.uncertainty, std::sqrt(variance) / 2);
  EXPECT_DOUBLE_EQ(timing.jitter, 1.4826 * 7.5);
}

TEST(StepStats, TheWeightedMeanFavoursTheLastSteps) {
  // Weights .25, .5, 1 for steps of 4, 2, 1 seconds: (1 + 1 + 1) / 1.75.
  EXPECT_DOUBLE_EQ(ComputePerfTiming(1, {4, 2, 1}, 0.5).images_per_sec, 1.75 / 3);
  EXPECT_DOUBLE_EQ(ComputePerfTiming(1, {4, 2, 1}, 1.0).images_per_sec, 1);
  EXPECT_DOUBLE_EQ(ComputePerfTiming(1, {4, 2, 1}, 0.0).images_per_sec, 3.0 / 7);
}

TEST(StepStats, TheMedianOfAnEvenNumberIsTheMiddleOfTwo) {
  EXPECT_DOUBLE_EQ(Median({3}), 3);
  EXPECT_DOUBLE_EQ(Median({4, 1}), 2.5);
  EXPECT_DOUBLE_EQ(Median({9, 1, 5}), 5);
  EXPECT_DOUBLE_EQ(Median({4, 1, 3, 2}), 2.5);
}

TEST(StepStats, TheTotalCountsAllWorkersAndWallTime) {
  const TotalTiming total = ComputeTotal(32, 10, 2, 4);
  EXPECT_DOUBLE_EQ(total.images_per_sec, 160);
  EXPECT_DOUBLE_EQ(total.average_wall_time, 0.4);
  EXPECT_DOUBLE_EQ(ComputeTotal(32, 0, 1, 0).images_per_sec, 0);
}

TEST(AmountOfWork, IsThatOfThePeersTests) {
  EXPECT_EQ(AmountOfWork({}, {}, 32, 1281167).num_batches, 100);
  EXPECT_EQ(AmountOfWork({}, 3.0, 2, 3).num_batches, 5);
  EXPECT_DOUBLE_EQ(AmountOfWork({}, 3.0, 2, 3).num_epochs, 10.0 / 3);
  EXPECT_EQ(AmountOfWork({}, 0.1, 100, 50000).num_batches, 50);
  EXPECT_EQ(AmountOfWork({}, 1.0, 2, 100).num_batches, 50);
  EXPECT_DOUBLE_EQ(AmountOfWork(7, {}, 2, 100).num_epochs, 0.14);
  EXPECT_THROW(AmountOfWork(5, 1.0, 2, 100), Error);
  EXPECT_EQ(AmountOfWork({}, 1e-5, 32, 1281167).num_batches, 1);
  EXPECT_THROW(AmountOfWork({}, 1e-12, 32, 1281167), Error);
}

TEST(WarmUp, IsTenOrWhatTuningNeeds) {
  BenchParams params;
  EXPECT_EQ(WarmupBatches(params), 10);
  params.autotune_threshold = 2;
  EXPECT_EQ(WarmupBatches(params), 20);
  params.autotune_threshold = 1;
  EXPECT_EQ(WarmupBatches(params), 10);
  params.num_warmup_batches = 0;
  EXPECT_EQ(WarmupBatches(params), 0);
}

TEST(WarmUp, IsRoundedUpToGroupsOfBatches) {
  EXPECT_EQ(RoundUpWarmup(10, 1), 10);
  EXPECT_EQ(RoundUpWarmup(0, 1), 0);
  EXPECT_EQ(RoundUpWarmup(10, 4), 13);
  EXPECT_EQ(RoundUpWarmup(13, 4), 13);
  EXPECT_EQ(RoundUpWarmup(0, 4), 1);
}

TEST(Derived, BatchSizeIsTheModelsUnlessGiven) {
  BenchParams params;
  params.model = "alexnet";
  EXPECT_EQ(Derive(params).batch_size, 512);
  params.data_name = "cifar10";
  EXPECT_EQ(Derive(params).batch_size, 128);
  params.batch_size = 7;
  EXPECT_EQ(Derive(params).batch_size, 7);
}

TEST(Derived, UnknownNamesAreRefusedWithTheList) {
  BenchParams params;
  params.model = "resnet51";
  try {
    Derive(params);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(
        error.message().find("Invalid model name 'resnet51' for dataset 'imagenet'. Must be one of alexnet, googlenet"),
        0u)
        << error.what();
  }
  params.data_name = "mnist";
  EXPECT_THROW(Derive(params), Error);
}

TEST(Derived, TheModeFollowsFromTheFlags) {
  BenchParams params;
  EXPECT_STREQ(ModeName(ModeOf(params)), "training");
  params.forward_only = true;
  EXPECT_STREQ(ModeName(ModeOf(params)), "forward only");
  params = {};
  params.eval = true;
  EXPECT_STREQ(ModeName(ModeOf(params)), "evaluation");
  params = {};
  params.eval_during_training_every_n_steps = 2;
  EXPECT_STREQ(ModeName(ModeOf(params)), "training + evaluation");
}

TEST(InfoBlock, HasThePeersOptionalLinesInItsOrder) {
  BenchParams params;
  params.device = "cpu";
  params.batch_group_size = 4;
  params.rewriter_config = "x";
  params.staged_vars = true;
  params.num_gpus = 2;
  const std::vector<std::string> lines = InfoBlock(params, Derive(params));
  const std::vector<std::string> expected = {"Model:       trivial",
                                             "Dataset:     imagenet (synthetic)",
                                             "Mode:        training",
                                             "SingleSess:  False",
                                             "Batch size:  64 global",
                                             "             32 per device",
                                             "             4 batches per prepocessing group",
                                             "Num batches: 100",
                                             "Num epochs:  0.00",
                                             "Devices:     ['/cpu:0', '/cpu:1']",
                                             "NUMA bind:   False",
                                             "Data format: NCHW",
                                             "RewriterConfig: x",
                                             "Optimizer:   sgd",
                                             "Variables:   parameter_server",
                                             "Staged vars: True",
                                             "=========="};
  EXPECT_EQ(lines[0].find("Muster:      "), 0u);
  EXPECT_EQ(std::vector<std::string>(lines.begin() + 1, lines.end()), expected);
}

TEST(Output, LinesAreThoseOfThePeer) {
  BenchParams params;
  EXPECT_EQ(StepHeader(params), "Step\tImg/sec\ttotal_loss");
  params.forward_only = true;
  params.loss_type_to_report = "base_loss";
  EXPECT_EQ(StepHeader(params), "Step\tImg/sec\tbase_loss\ttop_1_accuracy\ttop_5_accuracy");
  EXPECT_EQ(StepLine(10, {1466.24, 45.06, 202.94}, 9.7041, std::nullopt),
            "10\timages/sec: 1466.2 +/- 45.1 (jitter = 202.9)\t9.704");
  EXPECT_EQ(StepLine(1, {8, 0, 0}, -std::nan(""), Accuracies{0.5, 1}),
            "1\timages/sec: 8.0 +/- 0.0 (jitter = 0.0)\tnan\t0.500\t1.000");
  EXPECT_EQ(StepLine(1, {8, 0, 0}, 1.0 / 0.0, std::nullopt), "1\timages/sec: 8.0 +/- 0.0 (jitter = 0.0)\tinf");
  EXPECT_EQ(TotalLines(1474.756)[1], "total images/sec: 1474.76");
  EXPECT_EQ(TotalLines(1)[0], std::string(64, '-'));
}

TEST(Progress, TellsPaceAndTimeLeft) {
  EXPECT_EQ(ProgressLine("warm-up", 0, 10, 0), "warm-up 0/10");
  EXPECT_EQ(ProgressLine("warm-up", 2, 10, 6), "warm-up 2/10, 3.0 s per step, 24 s left");
  EXPECT_EQ(ProgressLine("timed", 10, 100, 0.05), "timed 10/100, 5.0 ms per step, 0.5 s left");
  EXPECT_EQ(DurationText(200), "3 min 20 s");
  EXPECT_EQ(DurationText(7500), "2 h 5 min");
}

}  // namespace
}  // namespace muster::bench
