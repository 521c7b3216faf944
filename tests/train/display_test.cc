#include "train/display.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/meters.h"
#include "train/summary.h"
#include "tests/train/fakes.h"

namespace muster::train {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const Progress kHalfway{.step = 50,
                        .total_steps = 400,
                        .epoch = 2.5,
                        .num_epochs = 10,
                        .loss = 0.25,
                        .accuracy = 0.875,
                        .learning_rate = 0.001,
                        .images_per_sec = 12345.6,
                        .seconds_left = 65};

const Evaluation kEvaluation{.epoch = 3.0002,
                             .step = 60,
                             .train_loss = 0.25,
                             .train_accuracy = 0.875,
                             .test_loss = 0.5,
                             .test_accuracy = 0.8125,
                             .learning_rate = 0.001,
                             .images_per_sec = 5000,
                             .at_seconds = 12.34};

TEST(ProgressLine, ShowsEpochBarLossAccuracySpeedAndTimeLeft) {
  EXPECT_EQ(ProgressLine(kHalfway, 200, false),
            "epoch 3/10 [===============>              ]  loss 0.250  accuracy 0.875  12346 images/s  1 min 05 s left");
}

TEST(ProgressLine, TheBarIsFullWhenAllEpochsAreDone) {
  Progress done = kHalfway;
  done.epoch = 10;
  EXPECT_THAT(ProgressLine(done, 200, false), HasSubstr("epoch 10/10 [==============================]"));
}

TEST(ProgressLine, ANanHasNoSign) {
  Progress bad = kHalfway;
  bad.loss = -std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(ProgressLine(bad, 200, false), HasSubstr("loss nan "));
  EXPECT_THAT(StepLine(bad), HasSubstr("loss nan "));
}

TEST(ProgressLine, NeverExceedsTheWidthOfTheTerminal) {
  for (int columns = 1; columns <= 150; ++columns)
    EXPECT_LE(ProgressLine(kHalfway, columns, false).size(), static_cast<size_t>(columns));
}

TEST(ProgressLine, ANarrowTerminalLosesTimeLeftFirstAndLossLast) {
  EXPECT_THAT(ProgressLine(kHalfway, 70, false), HasSubstr("images/s"));
  EXPECT_THAT(ProgressLine(kHalfway, 70, false), Not(HasSubstr("left")));
  EXPECT_THAT(ProgressLine(kHalfway, 40, false), HasSubstr("loss 0.250"));
  EXPECT_THAT(ProgressLine(kHalfway, 40, false), Not(HasSubstr("accuracy")));
}

TEST(ProgressLine, ColourAddsOnlyEscapeSequences) {
  std::string coloured = ProgressLine(kHalfway, 100, true);
  for (const std::string sequence : {"\x1b[32m", "\x1b[0m"}) {
    const size_t at = coloured.find(sequence);
    ASSERT_NE(at, std::string::npos);
    coloured.erase(at, sequence.size());
  }
  EXPECT_EQ(coloured, ProgressLine(kHalfway, 100, false));
}

TEST(Display, ATerminalIsRedrawnAtMostTenTimesASecond) {
  FakeConsole console;
  console.terminal = true;
  FakeClock clock;
  const auto display = MakeDisplay(console, clock, 1);
  display->Begin(kHalfway);
  const size_t at_start = console.written.size();
  for (int i = 0; i < 1000; ++i) {
    clock.now += 0.001;
    display->AfterStep(kHalfway);
  }
  EXPECT_GE(console.written.size() - at_start, 9u);
  EXPECT_LE(console.written.size() - at_start, 10u);
}

TEST(Display, ATerminalKeepsOneLinePerEvaluationAndIsCleanAtTheEnd) {
  FakeConsole console;
  console.terminal = true;
  FakeClock clock;
  const auto display = MakeDisplay(console, clock, 1);
  display->Begin(kHalfway);
  display->AfterStep(kHalfway);
  display->DuringEvaluation(kHalfway, 1, 4);
  display->AfterEvaluation(kHalfway, kEvaluation);
  EXPECT_THAT(console.all(), EndsWith("\r\x1b[K" + EvaluationLine(kEvaluation, 10) + "\n"));
  display->End({});
  EXPECT_THAT(console.all(), EndsWith("\r\x1b[K"));
}

TEST(Display, AnErrorDoesNotEndUpBehindTheBar) {
  FakeConsole console;
  console.terminal = true;
  FakeClock clock;
  auto display = MakeDisplay(console, clock, 1);
  display->AfterStep(kHalfway);
  display.reset();  // what an exception does
  EXPECT_THAT(console.all(), EndsWith("\r\x1b[K"));
}

TEST(Display, APipeGetsWholePlainLines) {
  FakeConsole console;
  FakeClock clock;
  const auto display = MakeDisplay(console, clock, 25);
  display->Begin(kHalfway);
  Progress progress = kHalfway;
  for (progress.step = 1; progress.step <= 50; ++progress.step) display->AfterStep(progress);
  display->DuringEvaluation(kHalfway, 1, 4);
  display->AfterEvaluation(kHalfway, kEvaluation);
  display->End({});
  EXPECT_EQ(
      console.all(),
      "step 25 of 400  epoch 2.50  loss 0.2500  accuracy 0.8750  12346 images/s  1 min 05 s left\n"
      "step 50 of 400  epoch 2.50  loss 0.2500  accuracy 0.8750  12346 images/s  1 min 05 s left\n"
      "epoch 3/10  loss 0.2500  accuracy 0.8750  test loss 0.5000  test accuracy 0.8125  5000 images/s  at 12.3 s\n");
}

TEST(Display, DisplayEveryZeroLeavesOnlyEvaluations) {
  FakeConsole console;
  FakeClock clock;
  const auto display = MakeDisplay(console, clock, 0);
  display->AfterStep(kHalfway);
  EXPECT_EQ(console.all(), "");
}

TEST(DurationText, GrowsWithTheDuration) {
  EXPECT_EQ(DurationText(0.4), "0 s");
  EXPECT_EQ(DurationText(59.6), "1 min 00 s");
  EXPECT_EQ(DurationText(3599), "59 min 59 s");
  EXPECT_EQ(DurationText(7620), "2 h 07 min");
}

TEST(SpeedMeter, FollowsTheLastSeconds) {
  SpeedMeter meter(2.0);
  EXPECT_EQ(meter.images_per_sec(), 0);
  for (int i = 0; i < 10; ++i) meter.Add(100, 1.0);
  for (int i = 0; i < 21; ++i) meter.Add(100, 0.1);
  EXPECT_NEAR(meter.images_per_sec(), 1000, 1);
}

TEST(Summary, ATargetReachedIsTheHeadline) {
  TrainResult result{.outcome = Outcome::kTargetReached,
                     .target_accuracy = 0.8,
                     .steps = 60,
                     .images = 30000,
                     .epochs = 3,
                     .first_step_at_seconds = 1.5,
                     .train_seconds = 10,
                     .eval_seconds = 1,
                     .input_wait_seconds = 0.25,
                     .evaluations = {kEvaluation}};
  EXPECT_EQ(SummaryText(result),
            "Reached the target test accuracy of 0.8 in 12.3 s.\n"
            "  time to accuracy   12.34 s from process start, 1.50 s of it before the first step\n"
            "  best test accuracy 0.8125 after 3.00 epochs\n"
            "  epochs             3.00 (60 steps, 30000 images)\n"
            "  training           10.00 s, 3000 images/s\n"
            "  input wait         2.5 % of training\n"
            "  evaluation         1.00 s, 1 time\n");
}

TEST(Summary, OneEpochIsNoPlural) {
  EXPECT_THAT(SummaryText({.epochs = 1}), ::testing::StartsWith("Trained for 1 epoch.\n"));
}

TEST(Summary, AMissedTargetAndAnInterruptSaySo) {
  EXPECT_THAT(
      SummaryText({.outcome = Outcome::kEpochsDone, .target_accuracy = 0.9, .epochs = 5, .evaluations = {kEvaluation}}),
      HasSubstr("The target test accuracy of 0.9 was not reached in 5 epochs."));
  EXPECT_THAT(SummaryText({.outcome = Outcome::kInterrupted}), HasSubstr("Interrupted."));
}

}  // namespace
}  // namespace muster::train
