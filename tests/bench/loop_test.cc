#include "tests/bench/loop_fixture.h"

namespace muster::bench {
namespace {

TEST_F(LoopTest, PrintsWhatThePeerPrints) {
  const BenchResult result = RunIt();
  const std::string dashes(64, '-');
  const std::vector<std::string> expected = {"Generating training model",
                                             "Initializing graph",
                                             "Running warm up",
                                             "Done warm up",
                                             "Step\tImg/sec\ttotal_loss",
                                             "1\timages/sec: 16.0 +/- 0.0 (jitter = 0.0)\t7.000",
                                             "2\timages/sec: 16.0 +/- 0.0 (jitter = 0.0)\t7.000",
                                             "4\timages/sec: 16.0 +/- 0.0 (jitter = 0.0)\t7.000",
                                             dashes,
                                             "total images/sec: 16.00",
                                             dashes};
  EXPECT_EQ(LinesFrom("Generating training model"), expected);
  EXPECT_EQ(result.state, ExitState::kFinished);
  EXPECT_EQ(result.num_steps, 4);
  EXPECT_DOUBLE_EQ(result.images_per_sec, 16);
  EXPECT_DOUBLE_EQ(result.average_wall_time, 0.5);
  EXPECT_EQ(result.last_average_loss, 7);
}

TEST_F(LoopTest, ThePlannedPeakIsShownBeforeTheFirstStep) {
  RunIt();
  ASSERT_FALSE(console_.notes.empty());
  EXPECT_EQ(console_.notes.back(),
            "memory plan: peak 3.0 MiB, 2.0 of them counted against the host's limit; 2 threads");
}

TEST_F(LoopTest, WarmUpStepsTrainAndAdvanceTheGlobalStep) {
  params_.piecewise_learning_rate_schedule = "1;0;.5";
  RunIt();
  ASSERT_EQ(fake_.steps.size(), 6u);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(fake_.steps[i].global_step, static_cast<int64_t>(i));
    EXPECT_FLOAT_EQ(fake_.steps[i].learning_rate, 0.5f);
  }
}

TEST_F(LoopTest, ForwardOnlyShowsAccuraciesAndNoLoss) {
  params_.forward_only = true;
  params_.num_batches = 1;
  RunIt();
  EXPECT_EQ(LinesFrom("Step\tImg/sec\ttotal_loss\ttop_1_accuracy\ttop_5_accuracy").at(1),
            "1\timages/sec: 16.0 +/- 0.0 (jitter = 0.0)\t0.000\t0.250\t0.500");
}

TEST_F(LoopTest, WarmUpIsRoundedUpToGroupsOfBatches) {
  params_.batch_group_size = 4;
  RunIt();
  EXPECT_EQ(LinesFrom("Initializing graph").at(1), "Round up warm up steps to 5 to match batch_group_size");
  EXPECT_EQ(fake_.steps.size(), 9u);
}

TEST_F(LoopTest, ARefusedRequestBuildsNothingAndWritesNothing) {
  own_.json = folder_ + "/r.json";
  params_.num_epochs = 1;
  EXPECT_EQ(ErrorOfRun(), "At most one of --num_batches and --num_epochs may be specified.");
  EXPECT_TRUE(console_.lines.empty());
  EXPECT_EQ(fake_.prepared, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(LoopTest, AnEvaluationWithoutFolderIsRefusedAfterTheInformationBlock) {
  params_.eval = true;
  EXPECT_EQ(ErrorOfRun(), "Trained model directory not specified");
  EXPECT_EQ(console_.lines.back(), "==========");
}

TEST_F(LoopTest, AMalformedScheduleIsRefusedWhileTheModelIsGenerated) {
  params_.piecewise_learning_rate_schedule = "1;2";
  params_.benchmark_log_dir = folder_ + "/log";
  EXPECT_EQ(ErrorOfRun(), "--piecewise_learning_rate_schedule must have an odd number of components");
  EXPECT_EQ(console_.lines.back(), "Generating training model");
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(LoopTest, ANanStopsWithStepAndLayerIfTheUserChoseTheRate) {
  params_.init_learning_rate = 1e9;
  own_.json = folder_ + "/r.json";
  fake_.losses = {7, 7, 7, std::nan("")};
  EXPECT_EQ(
      ErrorOfRun(),
      "loss is nan at timed step 2 (step 4 of all): the output of v0/conv1/Conv2D (Conv2D) holds -inf first; try a "
      "smaller learning rate, or --check_nan=false to go on");
  EXPECT_EQ(Json().at("exit_state"), "not_finite");
  EXPECT_EQ(Json().at("num_steps"), 2);
  EXPECT_TRUE(Json().at("steps").at("loss").at(1).is_null());
}

TEST_F(LoopTest, ANanAtTheModelsOwnRateIsNotedOnceAndTheRunGoesOn) {
  fake_.losses = {std::nan("")};
  EXPECT_EQ(RunIt().state, ExitState::kFinished);
  int noted = 0;
  for (const std::string& note : console_.notes) noted += note.find("loss is nan at warm-up step 1") == 0;
  EXPECT_EQ(noted, 1);
  own_.check_nan = true;
  EXPECT_NE(ErrorOfRun(), "no error");
  params_.init_learning_rate = 1;
  own_.check_nan = false;
  EXPECT_EQ(ErrorOfRun(), "no error");
}

TEST_F(LoopTest, CtrlCInAStepEndsWithTheTotalSoFar) {
  fake_.cancel_at = 4;  // two warm-up and two timed steps are done
  own_.json = folder_ + "/r.json";
  const BenchResult result = RunIt();
  EXPECT_EQ(result.state, ExitState::kInterrupted);
  EXPECT_EQ(result.num_steps, 2);
  EXPECT_EQ(console_.lines.at(console_.lines.size() - 2), "total images/sec: 16.00");
  EXPECT_EQ(console_.notes.back(), "interrupted after 2 of 2 warm-up and 2 of 4 timed steps");
  EXPECT_EQ(Json().at("exit_state"), "interrupted");
  EXPECT_DOUBLE_EQ(Json().at("images_per_sec"), 16);
}

TEST_F(LoopTest, CtrlCWhileTheGraphIsInitialisedLeavesAResultThatSaysSo) {
  fake_.interrupt_preparing = true;
  own_.json = folder_ + "/r.json";
  for (const bool gives_up : {true, false}) {
    fake_.cancel_preparing = gives_up;
    EXPECT_EQ(RunIt().state, ExitState::kInterrupted);
    EXPECT_EQ(console_.lines.back(), "Initializing graph");
    EXPECT_EQ(console_.notes, std::vector<std::string>{"interrupted before the first step"});
    EXPECT_EQ(Json().at("exit_state"), "interrupted");
    console_.notes.clear();
  }
}

TEST_F(LoopTest, AStandardOutputThatEndsStillLeavesTheResultFile) {
  own_.json = folder_ + "/r.json";
  for (const char* line : {"==========", "Initializing graph", "Done warm up"}) {
    console_.broken_at = line;
    EXPECT_EQ(ErrorOfRun(), "cannot write standard output: Broken pipe") << line;
    EXPECT_EQ(Json().at("exit_state"), "failed") << line;
    std::filesystem::remove(*own_.json);
  }
}

TEST_F(LoopTest, CtrlCDuringWarmUpHasNoTotal) {
  fake_.cancel_at = 1;
  own_.json = folder_ + "/r.json";
  EXPECT_EQ(RunIt().state, ExitState::kInterrupted);
  EXPECT_EQ(console_.lines.back(), "Running warm up");
  EXPECT_TRUE(Json().at("images_per_sec").is_null());
}

TEST_F(LoopTest, AFailureWhileRunningLeavesAResultThatSaysSo) {
  fake_.fail_at = 3;
  own_.json = folder_ + "/r.json";
  EXPECT_EQ(ErrorOfRun(), "kernel failed");
  EXPECT_EQ(Json().at("exit_state"), "failed");
  EXPECT_EQ(Json().at("error"), "kernel failed");
  EXPECT_EQ(Json().at("num_steps"), 1);
}

TEST_F(LoopTest, ARunWithNothingLeftToDoSaysSoAndTrainsAndWritesNothing) {
  params_.train_dir = folder_ + "/run";
  fake_.resumed = 4;
  EXPECT_EQ(RunIt().state, ExitState::kFinished);
  EXPECT_TRUE(fake_.steps.empty());
  EXPECT_FALSE(fake_.has_begun);
  EXPECT_EQ(console_.lines.back(), "Initializing graph");
  EXPECT_EQ(console_.notes.back(),
            "nothing is left to do: " + folder_ +
                "/run has 4 steps, and --num_batches=4 counts those of earlier runs; nothing was written");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/run"));
}

TEST_F(LoopTest, StepsThatOnlyRunForwardAreNotCountedWithThoseOfTheTraining) {
  params_.train_dir = folder_ + "/run";
  params_.forward_only = true;
  fake_.resumed = 100;
  EXPECT_EQ(RunIt().num_steps, 4);
}

TEST_F(LoopTest, CtrlCNamesTheCheckpointThatIsLeft) {
  params_.train_dir = folder_ + "/run";
  fake_.cancel_at = 4;
  fake_.checkpoint = folder_ + "/run/model.ckpt-4";
  EXPECT_EQ(RunIt().state, ExitState::kInterrupted);
  EXPECT_EQ(console_.notes.back(), "the newest checkpoint is " + fake_.checkpoint + " (4 steps done)");
  fake_.cancel_at = 0;
  fake_.checkpoint.clear();
  RunIt();
  EXPECT_EQ(console_.notes.back(), "nothing is saved: no step was done");
}

}  // namespace
}  // namespace muster::bench
