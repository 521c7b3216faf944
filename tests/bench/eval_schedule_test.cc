#include "bench/eval_schedule.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster::bench {
namespace {

// The timed steps of a run of "all" steps after which an evaluation follows.
std::vector<int64_t> DueSteps(BenchParams params, int64_t all) {
  params.model = "trivial";
  params.device = "cpu";
  const EvalSchedule schedule(params, Derive(params));
  std::vector<int64_t> steps;
  for (int64_t step = 1; step <= all; ++step)
    if (schedule.IsDue(step, all)) steps.push_back(step);
  return steps;
}

// With the one at the end, which is not the schedule's, these are four evaluations.
TEST(EvalSchedule, EveryNStepsInsideTheRun) {
  EXPECT_EQ(DueSteps({.eval_during_training_every_n_steps = 2}, 7), (std::vector<int64_t>{2, 4, 6}));
  EXPECT_EQ(DueSteps({.eval_during_training_every_n_steps = 2}, 6), (std::vector<int64_t>{2, 4}));
}

TEST(EvalSchedule, OnlyListedStepsBeforeTheEndCount) {
  EXPECT_EQ(DueSteps({.eval_during_training_at_specified_steps = {"2", "3", "5", "7", "1000"}}, 7),
            (std::vector<int64_t>{2, 3, 5}));
}

// 50000 images at 20000 a step are two and a half steps per epoch.
TEST(EvalSchedule, EpochsBecomeStepsRoundedUp) {
  BenchParams params{.batch_size = 20000, .data_name = "cifar10"};
  params.eval_during_training_every_n_epochs = 1;
  EXPECT_EQ(DueSteps(params, 9), (std::vector<int64_t>{3, 5, 8}));
  params.eval_during_training_every_n_epochs = 0.1;  // more often than there are steps
  EXPECT_EQ(DueSteps(params, 4), (std::vector<int64_t>{1, 2, 3}));
  params.eval_during_training_every_n_epochs.reset();
  params.eval_during_training_at_specified_epochs = {"0.4", "1", "1.3", "100"};
  EXPECT_EQ(DueSteps(params, 9), (std::vector<int64_t>{1, 3, 4}));
}

TEST(EvalSchedule, TrainingAloneIsNeverInterrupted) { EXPECT_TRUE(DueSteps({}, 7).empty()); }

TEST(EvaluationAmount, OwnFlagsBeatThoseOfTraining) {
  BenchParams params{.model = "trivial", .batch_size = 4, .num_batches = 20, .data_name = "cifar10"};
  params.eval_during_training_every_n_steps = 2;
  EXPECT_EQ(Derive(params).num_eval_batches, 20);
  EXPECT_EQ(Derive(params).eval_batch_size, 4);
  params.num_eval_batches = 3;
  params.eval_batch_size = 100;
  EXPECT_EQ(Derive(params).num_eval_batches, 3);
  EXPECT_EQ(Derive(params).batch_size, 4);
  params.num_eval_batches.reset();
  params.num_eval_epochs = 1;
  EXPECT_EQ(Derive(params).num_eval_batches, 100);
  EXPECT_EQ(Derive(params).num_batches, 20);
}

}  // namespace
}  // namespace muster::bench
