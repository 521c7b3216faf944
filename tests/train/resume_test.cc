// A run that was interrupted and goes on from a checkpoint is, bit by bit, the run that was not.
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/format/event_file.h"
#include "tests/testing/idx_files.h"
#include "tests/train/fakes.h"
#include "train/checkpoint_hook.h"
#include "train/checkpoint_names.h"
#include "train/graph_train_step.h"
#include "train/summary_hook.h"
#include "train/trainer.h"

namespace muster::train {
namespace {

using ::testing::ElementsAre;

// One-channel images whose numbers say where they come from.
class Ramps : public data::Dataset {
 public:
  int64_t size() const override { return 40; }
  const Shape& image_shape() const override { return shape_; }
  int num_classes() const override { return 4; }
  int32_t Get(int64_t index, uint64_t, std::span<float> image) const override {
    for (size_t i = 0; i < image.size(); ++i)
      image[i] = static_cast<float>((static_cast<int64_t>(i) * (index % 4 + 1) + index) % 17) / 17;
    return static_cast<int32_t>(index % 4);
  }

 private:
  Shape shape_{12, 12, 1};
};

TrainOptions Options(const std::string& optimizer) {
  return {.model = "cnn",
          .optimizer = {.name = optimizer,
                        .momentum = 0.9,
                        .rmsprop_decay = 0.9,
                        .rmsprop_momentum = 0.9,
                        .rmsprop_epsilon = 1,
                        .adam_beta1 = 0.9,
                        .adam_beta2 = 0.999,
                        .adam_epsilon = 1e-8},
          .schedule = {.kind = "cosine", .init_rate = 0.01},
          .batch_size = 8,
          .eval_batch_size = 8,
          .num_epochs = 4,
          .seed = 5,
          .num_intra_threads = 1,
          .backend = "cpu",
          .check_nan = true};
}

// Everything that a run of some steps leaves behind.
struct Trained {
  TrainResult result;
  std::vector<std::string> losses;  // as bits, one per step
  std::vector<std::string> variables;
};

class LossRecorder : public Hook {
 public:
  void AfterStep(const Progress& progress) override {
    std::string bits(sizeof(double), '\0');
    std::memcpy(bits.data(), &progress.step_loss, sizeof(double));
    losses.push_back(bits);
  }
  std::vector<std::string> losses;
};

class ResumeTest : public ::testing::TestWithParam<const char*> {
 protected:
  // Trains on from what the folder has, for some epochs, with a checkpoint every 3 steps; stops after "until" steps as
  // Ctrl-C does.
  Trained Train(const std::string& folder, int64_t until, int verbosity = 0) {
    TrainOptions options = Options(GetParam());
    options.summary_verbosity = verbosity;
    options.save_summaries_steps = verbosity > 0 ? 5 : 0;
    options.train_dir = folder;
    GraphTrainStep step(options, {images_.image_shape(), images_.num_classes(), images_.size()});
    Saver saver(&step.graph(), CheckpointVariables(step.graph()), {.write_meta_graph = false});
    step.Restore(saver, folder, "");
    Checkpointer checkpointer(saver, step.session(), {.folder = folder, .every_steps = 3}, clock_);
    CheckpointHook checkpoints(checkpointer);
    LossRecorder losses;
    std::vector<Hook*> hooks{&losses, &checkpoints};
    std::unique_ptr<SummaryHook> summaries;
    if (verbosity > 0) hooks.push_back((summaries = std::make_unique<SummaryHook>(step, options)).get());
    const data::TrainBatches train(images_, options.batch_size, 1);
    const data::EvalBatches test(images_, 8);
    const TrainerOptions trainer{.num_epochs = options.num_epochs, .first_step = step.step(), .interrupted = [&] {
                                   return step.step() >= until;
                                 }};
    Trained run{.result = Trainer(step, train, test, trainer, clock_, hooks).Run()};
    run.losses = losses.losses;
    for (const VariableInfo& info : step.graph().variables()) {
      const Tensor value = step.session().ReadVariable(info.ref);
      run.variables.emplace_back(static_cast<const char*>(value.raw()), value.byte_size());
    }
    return run;
  }

  Ramps images_;
  FakeClock clock_;
};

TEST_P(ResumeTest, AnInterruptedRunGoesOnBitEqual) {
  const testing::TempFolder whole_folder, broken_folder;
  const Trained whole = Train(whole_folder.path().string(), 1000);
  ASSERT_EQ(whole.result.steps, 20);
  std::vector<std::string> losses;
  Trained last;
  for (const int64_t until : {4, 11, 1000}) {
    last = Train(broken_folder.path().string(), until);
    losses.insert(losses.end(), last.losses.begin(), last.losses.end());
  }
  EXPECT_EQ(last.result.first_step, 11);
  EXPECT_EQ(last.result.steps, 20);
  EXPECT_EQ(losses, whole.losses);
  EXPECT_EQ(last.variables, whole.variables);
  EXPECT_EQ(last.result.evaluations.back().test_loss, whole.result.evaluations.back().test_loss);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, ResumeTest, ::testing::Values("adam", "nesterov", "rmsprop", "ftrl"));

using ResumeOfFinishedTest = ResumeTest;

TEST_P(ResumeOfFinishedTest, ARunThatIsDoneIsOnlyEvaluated) {
  const testing::TempFolder folder;
  const Trained first = Train(folder.path().string(), 1000), second = Train(folder.path().string(), 1000);
  EXPECT_TRUE(second.losses.empty());
  EXPECT_EQ(second.result.outcome, Outcome::kEpochsDone);
  ASSERT_EQ(second.result.evaluations.size(), 1u);
  EXPECT_EQ(second.result.evaluations[0].test_accuracy, first.result.evaluations.back().test_accuracy);
  EXPECT_EQ(second.variables, first.variables);
}

TEST_P(ResumeOfFinishedTest, WatchingGradientsChangesNoBit) {
  const testing::TempFolder plain, watched;
  const Trained without = Train(plain.path().string(), 1000), with = Train(watched.path().string(), 1000, 3);
  EXPECT_EQ(with.losses, without.losses);
  EXPECT_EQ(with.variables, without.variables);

  std::string events;
  for (const auto& entry : std::filesystem::directory_iterator(watched.path()))
    if (entry.path().filename().string().starts_with("events.")) events = entry.path().string();
  std::vector<int64_t> loss_steps, gradient_steps, weight_steps;
  int64_t graphs = 0;
  data::EventFileReader reader(events);
  while (const std::optional<data::Event> event = reader.Next()) {
    graphs += event->kind == data::Event::Kind::kGraph ? 1 : 0;
    for (const data::SummaryValue& value : event->values) {
      if (value.tag == "total_loss") loss_steps.push_back(event->step);
      if (value.tag == "log_gradients_summary/log_gradients") gradient_steps.push_back(event->step);
      if (value.tag == "v/cg/conv0/conv2d/kernel") weight_steps.push_back(event->step);
    }
  }
  EXPECT_EQ(graphs, 1);
  EXPECT_THAT(loss_steps, ElementsAre(5, 10, 15, 20));
  EXPECT_THAT(gradient_steps, ElementsAre(5, 10, 15, 20));
  EXPECT_THAT(weight_steps, ElementsAre(5, 10, 15, 20));
}

INSTANTIATE_TEST_SUITE_P(Adam, ResumeOfFinishedTest, ::testing::Values("adam"));

}  // namespace
}  // namespace muster::train
