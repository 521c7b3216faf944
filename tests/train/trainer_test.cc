#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "muster/error.h"
#include "tests/train/fakes.h"

namespace muster::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TrainerTest : public ::testing::Test {
 protected:
  static constexpr int64_t kTrain = 10, kTest = 5;

  TrainResult Run(TrainerOptions options, int64_t batch_size = 4) {
    const data::TrainBatches train(train_images_, batch_size, 1);
    const data::EvalBatches test(test_images_, 2);
    Trainer trainer(step_, train, test, std::move(options), clock_, {&hook_});
    return trainer.Run();
  }

  NumberedImages train_images_{kTrain};
  NumberedImages test_images_{kTest};
  FakeClock clock_;
  FakeTrainStep step_{&clock_};
  RecordingHook hook_;
};

TEST_F(TrainerTest, EveryEpochTrainsEveryImageOnceAndIsEvaluated) {
  const TrainResult result = Run({.num_epochs = 4});
  EXPECT_EQ(result.outcome, Outcome::kEpochsDone);
  EXPECT_EQ(result.steps, 10);  // 4 epochs of 10 images in batches of 4
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    std::vector<int64_t> seen(step_.trained.begin() + epoch * kTrain, step_.trained.begin() + (epoch + 1) * kTrain);
    std::ranges::sort(seen);
    EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  }
  std::vector<int64_t> steps;
  for (const Evaluation& evaluation : result.evaluations) steps.push_back(evaluation.step);
  EXPECT_THAT(steps, ElementsAre(3, 5, 8, 10));  // the steps that complete epochs 1, 2, 3, 4
}

TEST_F(TrainerTest, EachEvaluationSeesEveryTestImageOnceDespitePadding) {
  const TrainResult result = Run({.num_epochs = 1});
  EXPECT_THAT(step_.evaluated, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_DOUBLE_EQ(result.evaluations[0].test_loss, 2.0);
}

TEST_F(TrainerTest, StopsAtTheFirstEvaluationThatReachesTheTarget) {
  step_.accuracy = [](int64_t steps) { return steps >= 5 ? 1.0 : 0.5; };
  const TrainResult result = Run({.num_epochs = 50, .target_accuracy = 0.9});
  EXPECT_EQ(result.outcome, Outcome::kTargetReached);
  EXPECT_EQ(result.steps, 5);
  EXPECT_EQ(result.evaluations.size(), 2u);
  ASSERT_TRUE(result.time_to_accuracy().has_value());
  EXPECT_NEAR(*result.time_to_accuracy(), 5 + 0.6, 1e-9);  // five steps of a second, two evaluations of three batches
  EXPECT_DOUBLE_EQ(result.best()->test_accuracy, 1.0);
}

TEST_F(TrainerTest, WithoutATargetItTrainsAllEpochs) {
  step_.accuracy = [](int64_t) { return 1.0; };
  const TrainResult result = Run({.num_epochs = 2, .target_accuracy = 0});
  EXPECT_EQ(result.outcome, Outcome::kEpochsDone);
  EXPECT_FALSE(result.time_to_accuracy().has_value());
}

TEST_F(TrainerTest, EvaluatesSeveralTimesInAnEpochAndAlwaysAtTheEnd) {
  const TrainResult result = Run({.num_epochs = 3, .eval_every_n_epochs = 0.7});
  std::vector<int64_t> steps;
  for (const Evaluation& evaluation : result.evaluations) steps.push_back(evaluation.step);
  EXPECT_THAT(steps, ElementsAre(2, 4, 6, 7, 8));  // after 7, 14, 21, 28 and 30 images
}

TEST_F(TrainerTest, EvaluatesAtMostOncePerStep) {
  const TrainResult result = Run({.num_epochs = 1, .eval_every_n_epochs = 0.01});
  EXPECT_EQ(result.evaluations.size(), 3u);
}

TEST_F(TrainerTest, ANonFiniteLossStopsWithStepAndLayer) {
  step_.loss = [](int64_t step) { return step == 2 ? std::nan("") : 1.0; };
  try {
    Run({.num_epochs = 4});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the loss of step 3 is nan: layer conv2 holds NaN"));
  }
  EXPECT_EQ(step_.steps, 3);
}

// The last update's damage shows in no training loss any more.
TEST_F(TrainerTest, ANonFiniteLossOfTheTestImagesStopsToo) {
  step_.test_loss = std::nan("");
  try {
    Run({.num_epochs = 1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the loss of the test images after step 3 is nan"));
  }
  EXPECT_EQ(Run({.num_epochs = 1, .check_nan = false}).steps, 3);
}

TEST_F(TrainerTest, ANanWithASignIsReportedAsNan) {
  step_.loss = [](int64_t) { return -std::nan(""); };
  try {
    Run({.num_epochs = 1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the loss of step 1 is nan: "));
  }
}

TEST_F(TrainerTest, NeverMoreEpochsAreReportedThanWereAskedFor) {
  const TrainResult result = Run({.num_epochs = 1});  // 3 steps of 4 images for 10 images
  EXPECT_EQ(result.images, 12);
  EXPECT_DOUBLE_EQ(result.epochs, 1.0);
  EXPECT_DOUBLE_EQ(result.evaluations.back().epoch, 1.0);
  EXPECT_DOUBLE_EQ(hook_.last.epoch, 1.0);
}

TEST_F(TrainerTest, WithoutTheCheckItGoesOnAfterANonFiniteLoss) {
  step_.loss = [](int64_t) { return std::numeric_limits<double>::infinity(); };
  EXPECT_EQ(Run({.num_epochs = 2, .check_nan = false}).steps, 5);
}

TEST_F(TrainerTest, AnInterruptEndsItAfterTheCurrentStepWithTheResultSoFar) {
  const TrainResult result = Run({.num_epochs = 50, .interrupted = [&] { return step_.steps >= 4; }});
  EXPECT_EQ(result.outcome, Outcome::kInterrupted);
  EXPECT_EQ(result.steps, 4);
  EXPECT_EQ(result.evaluations.size(), 1u);
  EXPECT_EQ(hook_.events.back(), "end");
}

TEST_F(TrainerTest, AStepThatGivesUpBecauseOfAnInterruptDoesNotCount) {
  bool interrupted = false;
  step_.loss = [&](int64_t step) -> double {
    if (step < 4) return 1;
    interrupted = true;
    throw Error(Code::kCancelled, "interrupted");
  };
  const TrainResult result = Run({.num_epochs = 50, .interrupted = [&] { return interrupted; }});
  EXPECT_EQ(result.outcome, Outcome::kInterrupted);
  EXPECT_EQ(result.steps, 4);
}

TEST_F(TrainerTest, AnInterruptDuringEvaluationDropsTheUnfinishedEvaluation) {
  const TrainResult result = Run({.num_epochs = 50, .interrupted = [&] { return step_.evaluated.size() >= 2; }});
  EXPECT_EQ(result.outcome, Outcome::kInterrupted);
  EXPECT_TRUE(result.evaluations.empty());
}

TEST_F(TrainerTest, HooksSeeEveryStepAndEvaluationInOrder) {
  Run({.num_epochs = 1}, 5);
  EXPECT_THAT(hook_.events, ElementsAre("begin", "step 1", "step 2", "batch 1/3", "batch 2/3", "batch 3/3",
                                        "evaluation at 2", "end"));
  EXPECT_EQ(hook_.last.total_steps, 2);
  EXPECT_DOUBLE_EQ(hook_.last.epoch, 1.0);
  EXPECT_DOUBLE_EQ(hook_.last.loss, 1.0);
  EXPECT_DOUBLE_EQ(hook_.last.learning_rate, 0.5);
  EXPECT_DOUBLE_EQ(hook_.last.images_per_sec, 5.0);
}

TEST_F(TrainerTest, FiguresOfAnEvaluationCoverTheTrainingSinceTheLastOne) {
  step_.loss = [](int64_t step) { return static_cast<double>(step); };
  const TrainResult result = Run({.num_epochs = 2}, 5);
  EXPECT_DOUBLE_EQ(result.evaluations[0].train_loss, 0.5);
  EXPECT_DOUBLE_EQ(result.evaluations[1].train_loss, 2.5);
  EXPECT_DOUBLE_EQ(result.evaluations[1].train_seconds, 2.0);
  EXPECT_DOUBLE_EQ(result.evaluations[1].images_per_sec, 5.0);
  EXPECT_NEAR(result.eval_seconds, 0.6, 1e-9);
  EXPECT_DOUBLE_EQ(result.train_seconds, 4.0);
  EXPECT_DOUBLE_EQ(result.images_per_sec(), 5.0);
}

TEST_F(TrainerTest, AHookThatThrowsEndsTheRun) {
  class Failing : public Hook {
    void AfterStep(const Progress& progress) override {
      if (progress.step == 2) throw InvalidArgument("no space left");
    }
  } failing;
  const data::TrainBatches train(train_images_, 4, 1);
  const data::EvalBatches test(test_images_, 2);
  Trainer trainer(step_, train, test, {.num_epochs = 3}, clock_, {&failing});
  EXPECT_THROW(trainer.Run(), Error);
  EXPECT_EQ(step_.steps, 2);
}

}  // namespace
}  // namespace muster::train
