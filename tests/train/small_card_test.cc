// A card that is too small: what fits by the plan trains, one image more does not, recomputation gets further.

#include <gtest/gtest.h>

#include "muster/error.h"
#include "muster/models.h"
#include "muster/ops.h"
#include "muster/optimizer.h"
#include "muster/session.h"
#include "train/memory_fit.h"

namespace muster::train {
namespace {

struct Card {
  const char* model;
  const char* dataset;
  int64_t limit_mb;
  bool allow_growth = false;
};

// A model's training step on one simulated GPU that checks the order of accesses.
class OnCard {
 public:
  OnCard(const Card& card, int64_t batch, Recompute recompute, uint64_t delay_seed = 0) {
    graph_.set_seed(3);
    const Scope root = Scope(&graph_).WithDevice("/device:GPU:0");
    const Model& model = FindModel(card.model, card.dataset);
    const Output images = ops::MakeVariable(
        root, "images",
        ops::TruncatedNormal(root, DType::kFloat32, Shape{batch, model.image_size, model.image_size, 3}), false);
    const Output labels = ops::RandomUniformInt(root, DType::kInt32, Shape{batch}, 0, 10);
    const Tower tower = BuildTrainingTower(root, model, images, labels, {});
    const NodeId step = BuildTrainStep(root, tower, *MomentumOptimizer(0.01, 0.9), GlobalStep(root));
    SessionOptions options{.recompute = recompute};
    options.gpu = {.simulated_gpus = 1,
                   .memory_limit_mb = card.limit_mb,
                   .allow_growth = card.allow_growth,
                   .delay_seed = delay_seed,
                   .check_hazards = true};
    session_ = std::make_unique<Session>(&graph_, options);
    runner_ = session_->Prepare({}, {tower.total_loss}, {step});
  }

  const PlanStats& stats() const { return runner_->stats(); }

  MemoryNeeds Needs() { return NeedsOf(*session_, graph_, {&stats()}, 0); }

  std::vector<float> Losses(int steps) {
    session_->Initialize();
    std::vector<float> losses;
    for (int i = 0; i < steps; ++i) losses.push_back(runner_->Run()[0].scalar<float>());
    return losses;
  }

 private:
  Graph graph_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Runner> runner_;
};

int64_t LargestOn(const Card& card, Recompute recompute) {
  return LargestBatch(8, 1 << 20, [&](int64_t batch) { return OnCard(card, batch, recompute).Needs(); });
}

void ExpectTheLimitIsSharp(const Card& card, int steps) {
  const int64_t largest = LargestOn(card, Recompute::kNone);
  ASSERT_GT(largest, 1);
  EXPECT_NO_THROW(OnCard(card, largest, Recompute::kNone).Losses(steps)) << largest;
  OnCard more(card, largest + 1, Recompute::kNone);
  EXPECT_FALSE(Fits(more.Needs()));
  EXPECT_THROW(more.Losses(1), OutOfMemory);
}

void ExpectRecomputationGetsFurther(const Card& card, int steps) {
  const int64_t without = LargestOn(card, Recompute::kNone), with = LargestOn(card, Recompute::kFit);
  EXPECT_GT(static_cast<double>(with), 1.3 * static_cast<double>(without));
  Card large = card;
  large.limit_mb = 0;
  OnCard recomputed(card, with, Recompute::kFit), kept(large, with, Recompute::kNone);
  EXPECT_GT(recomputed.stats().num_recomputed, 0);
  EXPECT_EQ(recomputed.Losses(steps), kept.Losses(steps));
}

TEST(SmallCard, TheLargestBatchTrainsAndOneImageMoreRunsOutOfMemory) {
  ExpectTheLimitIsSharp({"resnet20", "cifar10", 40}, 3);
}
TEST(SmallCard, TheLimitIsAsSharpWhenMemoryGrows) { ExpectTheLimitIsSharp({"resnet20", "cifar10", 40, true}, 3); }
TEST(SmallCard, ImagesThatOutweighTheModelAreCountedWhenTheyAreDrawn) {
  ExpectTheLimitIsSharp({"trivial", "imagenet", 200}, 2);
}
TEST(SmallCard, RecomputationTrainsALargerBatchWithEqualLosses) {
  ExpectRecomputationGetsFurther({"resnet20", "cifar10", 40}, 3);
}

TEST(SmallCard, RecomputedStepsAreInOrderWhateverTheDelays) {
  const Card card{"resnet20", "cifar10", 20};
  const int64_t batch = LargestOn(card, Recompute::kFit);
  const std::vector<float> losses = OnCard(card, batch, Recompute::kFit).Losses(2);
  for (uint64_t seed : {1, 2}) EXPECT_EQ(OnCard(card, batch, Recompute::kFit, seed).Losses(2), losses) << seed;
}

TEST(SlowSmallCard, ResNet50OnTwoGibibytes) {
  const Card card{"resnet50", "imagenet", 2048};
  ExpectTheLimitIsSharp(card, 20);
  ExpectRecomputationGetsFurther(card, 1);
}

}  // namespace
}  // namespace muster::train
