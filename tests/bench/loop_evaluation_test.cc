// Evaluations: of checkpoints, and while training pauses.

#include "tests/bench/loop_fixture.h"

namespace muster::bench {
namespace {

TEST_F(LoopTest, TrainingPausesToEvaluateAndEvaluatesOnceMoreAtTheEnd) {
  params_.eval_during_training_every_n_steps = 2;
  params_.num_eval_batches = 2;
  fake_.accuracies = {0.5, 1};
  const BenchResult result = RunIt();
  const std::vector<std::string> expected = {"2\timages/sec: 16.0 +/- 0.0 (jitter = 0.0)\t7.000",
                                             "Running evaluation at global_step 4",
                                             "2\t16.0 examples/sec",
                                             "Accuracy @ 1 = 0.5000 Accuracy @ 5 = 0.7500 [16 examples]",
                                             "Resuming training",
                                             "4\timages/sec: 16.0 +/- 0.0 (jitter = 0.0)\t7.000",
                                             "Done with training",
                                             "Running final evaluation at global_step 6",
                                             "2\t16.0 examples/sec",
                                             "Accuracy @ 1 = 1.0000 Accuracy @ 5 = 0.7500 [16 examples]"};
  EXPECT_EQ(LinesFrom(expected[0]), expected);
  EXPECT_EQ(result.accuracies->top_1, 1);
  EXPECT_EQ(result.num_steps, 4);
}

// The case of the peer's own test: the target is reached in the second evaluation, and no other one follows.
TEST_F(LoopTest, AReachedTargetEndsTheTraining) {
  params_.num_batches = 7;
  params_.display_every = 1;
  params_.eval_during_training_every_n_steps = 2;
  params_.stop_at_top_1_accuracy = 0.4;
  fake_.accuracies = {0.1, 0.5};
  const BenchResult result = RunIt();
  EXPECT_EQ(result.num_steps, 4);
  EXPECT_EQ(fake_.evaluations, 2u);
  EXPECT_EQ(console_.lines[console_.lines.size() - 2], "Stopping, as eval accuracy at least 0.4 was reached");
  EXPECT_EQ(console_.lines.back(), "Done with training");
}

TEST_F(LoopTest, ACheckpointIsEvaluatedAlone) {
  params_.eval = true;
  params_.train_dir = folder_;
  params_.eval_dir = folder_ + "/eval";
  own_.json = folder_ + "/r.json";
  fake_.checkpoints = {{"t/model.ckpt-50", 50}};
  fake_.accuracies = {0.25};
  const BenchResult result = RunIt();
  const std::string dashes(64, '-');
  const std::vector<std::string> expected = {"Generating evaluation model",
                                             "Successfully loaded model from t/model.ckpt-50.",
                                             "2\t16.0 examples/sec",
                                             "4\t16.0 examples/sec",
                                             "Accuracy @ 1 = 0.2500 Accuracy @ 5 = 0.7500 [32 examples]",
                                             dashes,
                                             "total images/sec: 16.00",
                                             dashes};
  EXPECT_EQ(LinesFrom("Generating evaluation model"), expected);
  EXPECT_TRUE(fake_.steps.empty());
  EXPECT_DOUBLE_EQ(result.images_per_sec, 16);
  EXPECT_EQ(Json().at("evaluations").at(0).at("checkpoint"), "t/model.ckpt-50");
  EXPECT_EQ(Json().at("evaluations").at(0).at("top_1_accuracy"), 0.25);
  EXPECT_EQ(Json().at("images_per_sec"), 16);
}

TEST_F(LoopTest, AFolderWithoutACheckpointIsNoFailure) {
  params_.eval = true;
  params_.train_dir = "nothing_here";
  EXPECT_EQ(RunIt().state, ExitState::kFinished);
  EXPECT_EQ(console_.lines.back(), "Checkpoint not found in nothing_here");
}

// Two checkpoints, a second apart; then Ctrl-C.
TEST_F(LoopTest, WithAnIntervalTheNewestCheckpointIsEvaluatedAgainAndAgain) {
  params_.eval = true;
  params_.train_dir = folder_;
  params_.eval_dir = folder_ + "/eval";
  params_.eval_interval_secs = 1;
  fake_.checkpoints = {{"t/model.ckpt-5", 5}, {"t/model.ckpt-6", 6}};
  fake_.interrupt_after_evaluations = 2;
  EXPECT_EQ(RunIt().state, ExitState::kInterrupted);
  const auto count = [&](const std::string& line) {
    return std::count(console_.lines.begin(), console_.lines.end(), line);
  };
  EXPECT_EQ(count("Successfully loaded model from t/model.ckpt-5."), 1);
  EXPECT_EQ(count("Successfully loaded model from t/model.ckpt-6."), 1);
  EXPECT_EQ(console_.notes.back(), "interrupted after 2 evaluations");
}

TEST_F(LoopTest, ADamagedCheckpointIsTheOnlyLine) {
  params_.eval = true;
  params_.train_dir = folder_;
  fake_.load_error = "flag --train_dir: model.ckpt-5.index is damaged";
  EXPECT_EQ(ErrorOfRun(), fake_.load_error);
  EXPECT_TRUE(console_.notes.empty());
}

TEST_F(LoopTest, FoldersOfEvaluationsAreCheckedBeforeAnythingRuns) {
  const std::string file = folder_ + "/file";
  WriteFileAtomically(file, "x");
  params_.eval_dir = file;
  params_.eval_during_training_every_n_steps = 2;
  EXPECT_NE(ErrorOfRun().find("flag --eval_dir: "), std::string::npos);
  params_.eval_during_training_every_n_steps.reset();
  params_.train_dir = file;
  for (bool BenchParams::*mode : {&BenchParams::eval, &BenchParams::forward_only}) {
    params_.eval = params_.forward_only = false;
    params_.*mode = true;
    params_.eval_dir = folder_ + "/eval";
    EXPECT_EQ(ErrorOfRun(), "flag --train_dir: " + file + " is no folder");
  }
  EXPECT_EQ(fake_.prepared, 0);
}

}  // namespace
}  // namespace muster::bench
