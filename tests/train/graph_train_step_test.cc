#include "train/graph_train_step.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/interrupt.h"
#include "base/philox.h"
#include "muster/error.h"
#include "train/trainer.h"
#include "tests/train/fakes.h"

namespace muster::train {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kSide = 12;

// Images of noise with a bright bar whose row or column is the class: a few steps learn it.
class Bars : public data::Dataset {
 public:
  explicit Bars(int64_t size) : size_(size) {}
  int64_t size() const override { return size_; }
  const Shape& image_shape() const override { return shape_; }
  int num_classes() const override { return 4; }
  int32_t Get(int64_t index, uint64_t, std::span<float> image) const override {
    const Philox noise(1, static_cast<uint64_t>(index));
    for (size_t i = 0; i < image.size(); ++i) image[i] = 0.5f * UniformFloat(noise(0, i)[0]);
    const auto label = static_cast<int32_t>(index % 4);
    const size_t line = 3 * static_cast<size_t>(label) + 1;
    for (size_t x = 0; x < kSide; ++x) image[line * kSide + x] += 1;
    return label;
  }

 private:
  int64_t size_;
  Shape shape_{kSide, kSide, 1};
};

TrainOptions Options(const std::string& optimizer = "adam", double rate = 0.002) {
  TrainOptions options{.model = "cnn",
                       .optimizer = {.name = optimizer,
                                     .momentum = 0.9,
                                     .rmsprop_decay = 0.9,
                                     .rmsprop_epsilon = 1,
                                     .adam_beta1 = 0.9,
                                     .adam_beta2 = 0.999,
                                     .adam_epsilon = 1e-8},
                       .schedule = {.kind = "constant", .init_rate = rate},
                       .batch_size = 8,
                       .eval_batch_size = 8,
                       .num_epochs = 4,
                       .seed = 5,
                       .num_intra_threads = 1,
                       .backend = "cpu"};
  return options;
}

class GraphTrainStepTest : public ::testing::Test {
 protected:
  std::unique_ptr<GraphTrainStep> Make(const TrainOptions& options) {
    return std::make_unique<GraphTrainStep>(options,
                                            TrainingData{images_.image_shape(), images_.num_classes(), images_.size()});
  }
  // The losses of the first steps; evaluates between them if asked to.
  std::vector<double> Losses(const TrainOptions& options, int64_t steps, bool evaluate = false) {
    const auto step = Make(options);
    data::Batch batch = batches_.Allocate();
    std::vector<double> losses;
    for (int64_t k = 0; k < steps; ++k) {
      batches_.Fill(k, &batch);
      losses.push_back(step->Train(batch).loss);
      if (evaluate) step->Evaluate(batch);
    }
    return losses;
  }

  Bars images_{64};
  data::TrainBatches batches_{images_, 8, 3};
};

TEST_F(GraphTrainStepTest, LearnsAnEasySet) {
  const auto step = Make(Options());
  FakeClock clock;
  const data::EvalBatches test(images_, 8);
  const TrainResult result =
      Trainer(*step, batches_, test, {.num_epochs = 10, .target_accuracy = 1.0}, clock, {}).Run();
  EXPECT_EQ(result.outcome, Outcome::kTargetReached);
}

TEST_F(GraphTrainStepTest, TheSameSeedGivesTheSameBitsAndAnotherSeedOthers) {
  TrainOptions options = Options();
  const std::vector<double> losses = Losses(options, 6);
  EXPECT_EQ(Losses(options, 6), losses);
  options.seed = 6;
  EXPECT_NE(Losses(options, 6), losses);
}

TEST_F(GraphTrainStepTest, EvaluationsDoNotChangeTraining) {
  EXPECT_EQ(Losses(Options(), 6, true), Losses(Options(), 6));
}

TEST_F(GraphTrainStepTest, EveryOptimizerTakesAStep) {
  for (const std::string& name : OptimizerNames()) {
    SCOPED_TRACE(name);
    const std::vector<double> losses = Losses(Options(name, 0.01), 3);
    EXPECT_TRUE(std::isfinite(losses[2])) << name;
    EXPECT_NE(losses[1], losses[0]) << name;
  }
}

TEST_F(GraphTrainStepTest, RowsThatOnlyFillUpABatchDoNotCount) {
  const auto step = Make(Options());
  data::Batch batch = batches_.Allocate();
  batches_.Fill(0, &batch);
  const EvalResult all = step->Evaluate(batch);
  batch.valid = 3;
  const EvalResult first = step->Evaluate(batch);
  for (float& pixel : batch.images.data<float>().subspan(3 * kSide * kSide)) pixel = 100;
  const EvalResult with_garbage = step->Evaluate(batch);
  EXPECT_EQ(with_garbage.loss_sum, first.loss_sum);
  EXPECT_EQ(with_garbage.correct, first.correct);
  EXPECT_LT(first.loss_sum, all.loss_sum);
}

TEST_F(GraphTrainStepTest, TheLearningRateFollowsTheSchedule) {
  TrainOptions options = Options();
  options.schedule = {.kind = "polynomial", .init_rate = 0.4};
  options.optimizer.name = "sgd";
  const auto step = Make(options);
  data::Batch batch = batches_.Allocate();
  batches_.Fill(0, &batch);
  EXPECT_FLOAT_EQ(step->Train(batch).learning_rate, 0.4);  // 32 steps in all
  EXPECT_FLOAT_EQ(step->Train(batch).learning_rate, 0.3875);
}

TEST_F(GraphTrainStepTest, AnInfiniteWeightIsFoundInItsVariable) {
  const auto step = Make(Options());
  const Variable biases = TrainableVariables(step->graph()).back();
  const Tensor value = step->session().ReadVariable(biases);
  value.data<float>()[1] = std::numeric_limits<float>::infinity();
  step->session().WriteVariable(biases, value);
  data::Batch batch = batches_.Allocate();
  batches_.Fill(0, &batch);
  EXPECT_FALSE(std::isfinite(step->Train(batch).loss));
  EXPECT_EQ(step->ExplainNonFinite(0, batches_), "the variable " + VariableName(step->graph(), biases) + " holds inf");
}

TEST_F(GraphTrainStepTest, ADivergedRunNamesTheLayer) {
  const auto step = Make(Options("sgd", 1e6));
  FakeClock clock;
  const data::EvalBatches test(images_, 8);
  Trainer trainer(*step, batches_, test, {.num_epochs = 10}, clock, {});
  try {
    trainer.Run();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the loss of step "));
    EXPECT_THAT(error.what(), ::testing::AnyOf(HasSubstr("the output of cg/"), HasSubstr("the variable cg/")));
  }
}

TEST_F(GraphTrainStepTest, AnUnknownModelListsTheKnownOnes) {
  TrainOptions options = Options();
  options.model = "cnm";
  try {
    Make(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("--model=cnm: no such model (did you mean cnn or cnn_5x5?); known are alexnet, cnn, "));
  }
}

TEST_F(GraphTrainStepTest, AnUnknownModelComesWithTheProbableOne) {
  const auto error_of = [](const std::string& name) -> std::string {
    try {
      FindTrainModel(name);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of("resnet5"), HasSubstr("(did you mean resnet50"));
  EXPECT_THAT(error_of("lenet5"), HasSubstr("(did you mean lenet?)"));
  EXPECT_THAT(error_of("CNN"), HasSubstr("(did you mean cnn?)"));
  EXPECT_THAT(error_of("transformer"), HasSubstr("no such model; known are"));
}

TEST_F(GraphTrainStepTest, ImagesTooSmallForTheModelNameTheSizeItNeeds) {
  TrainOptions options = Options();
  options.model = "vgg11";
  options.dataset = "idx:bars";
  try {
    Make(options);
    FAIL();
  } catch (const Error& error) {  // five poolings halve the side
    EXPECT_STREQ(
        error.what(),
        "--model=vgg11 needs images of at least 32x32 (it is made for 224x224); those of --dataset=idx:bars are 12x12");
  }
}

TEST_F(GraphTrainStepTest, AnEvaluationBatchBeyondAllMemoryNamesItsFlag) {
  TrainOptions options = Options();
  options.eval_batch_size = int64_t{1} << 30;
  try {
    Make(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("--eval_batch_size=1073741824 needs "));
    EXPECT_THAT(error.what(), HasSubstr("; --eval_batch_size="));
  }
}

TEST_F(GraphTrainStepTest, AnInterruptEndsBuildingToo) {
  const InterruptScope scope;
  RequestInterrupt();
  try {
    Make(Options());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCancelled);
  }
}

// The plan that computes gradients for summaries keeps its memory beside the others'.
TEST_F(GraphTrainStepTest, WatchedGradientsCountAsMemory) {
  TrainOptions plain = Options(), watched = Options();
  plain.batch_size = watched.batch_size = 512;
  watched.summary_verbosity = 2;
  watched.save_summaries_steps = 10;
  const int64_t without = Make(plain)->planned_peak_bytes(), with = Make(watched)->planned_peak_bytes();
  EXPECT_GT(with, without);
  plain.host_memory_limit_mb = watched.host_memory_limit_mb = (without + with) / 2 >> 20;
  EXPECT_NO_THROW(Make(plain));
  try {
    Make(watched);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kResourceExhausted);
    EXPECT_THAT(error.what(), HasSubstr("--batch_size="));
  }
}

TEST_F(GraphTrainStepTest, ABatchBeyondAllMemoryIsRefusedWithOneThatFits) {
  TrainOptions options = Options();
  options.batch_size = int64_t{1} << 30;
  try {
    Make(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(" fits"));
  }
}

}  // namespace
}  // namespace muster::train
