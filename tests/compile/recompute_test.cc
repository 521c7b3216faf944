// Recomputation in the backward pass: less memory, the same bits.

#include <cstring>

#include <gtest/gtest.h>

#include "muster/models.h"
#include "muster/ops.h"
#include "muster/optimizer.h"
#include "muster/session.h"

namespace muster {
namespace {

struct Case {
  const char* model;
  const char* dataset;
  int64_t batch;
  const char* backend = "cpu";
};

// A model's training step, on images and labels drawn in each step.
class Training {
 public:
  Training(const Case& c, int64_t memory_limit = 0) {
    graph_.set_seed(7);
    Scope root(&graph_);
    const Model& model = FindModel(c.model, c.dataset);
    Output images =
        ops::RandomStandardNormal(root, DType::kFloat32, Shape{c.batch, model.image_size, model.image_size, 3});
    Output labels = ops::RandomUniformInt(root, DType::kInt32, Shape{c.batch}, 0, 10);
    TowerOptions options;
    options.weight_decay.rate = 1e-4;
    tower_ = BuildTrainingTower(root, model, images, labels, options);
    const NodeId step = BuildTrainStep(root, tower_, *MomentumOptimizer(0.01, 0.9), GlobalStep(root));
    SessionOptions session{.intra_op_threads = 2, .backend = c.backend};
    if (memory_limit > 0) {
      session.recompute = Recompute::kFit;
      session.host_memory_limit = memory_limit;
    }
    session_ = std::make_unique<Session>(&graph_, session);
    runner_ = session_->Prepare({}, {tower_.total_loss}, {step});
  }

  const PlanStats& stats() const { return runner_->stats(); }
  Runner& runner() { return *runner_; }

  std::vector<float> Losses(int steps) {
    session_->Initialize();
    std::vector<float> losses;
    for (int i = 0; i < steps; ++i) losses.push_back(runner_->Run()[0].scalar<float>());
    return losses;
  }

  // All variables: weights, slots, running averages.
  std::vector<Tensor> State() {
    std::vector<Tensor> state;
    for (const VariableInfo& v : graph_.variables()) state.push_back(session_->ReadVariable(v.ref));
    return state;
  }

 private:
  Graph graph_;
  Tower tower_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Runner> runner_;
};

// A limit that leaves "share" of the activations' memory.
int64_t LimitFor(const PlanStats& stats, double share) {
  return stats.devices[0].peak_bytes - static_cast<int64_t>((1 - share) * static_cast<double>(stats.arena_bytes));
}

bool BitEqual(const Tensor& a, const Tensor& b) { return std::memcmp(a.raw(), b.raw(), a.byte_size()) == 0; }

void ExpectSameBits(const Case& c, double share) {
  Training kept(c);
  Training recomputed(c, LimitFor(kept.stats(), share));
  EXPECT_LE(recomputed.stats().devices[0].peak_bytes, LimitFor(kept.stats(), share));
  EXPECT_GT(recomputed.stats().num_recomputed, 0);
  EXPECT_GT(recomputed.stats().recompute_flops, 0);
  EXPECT_EQ(kept.Losses(3), recomputed.Losses(3));
  const auto a = kept.State(), b = recomputed.State();
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(BitEqual(a[i], b[i])) << "variable " << i;
}

}  // namespace

TEST(Recompute, CheapLayersOfAResidualNetworkGiveTheSameBits) { ExpectSameBits({"resnet20", "cifar10", 16}, 0.8); }
TEST(Recompute, WholeBlocksOfAResidualNetworkGiveTheSameBits) { ExpectSameBits({"resnet20", "cifar10", 16}, 0.56); }
TEST(Recompute, PreactivationBlocksGiveTheSameBits) { ExpectSameBits({"resnet20_v2", "cifar10", 16}, 0.6); }
TEST(Recompute, BranchesPoolsAndDropoutGiveTheSameBits) { ExpectSameBits({"googlenet", "imagenet", 1}, 0.9); }
TEST(Recompute, TheReferenceBackendGivesTheSameBits) { ExpectSameBits({"resnet20", "cifar10", 2, "reference"}, 0.65); }

TEST(Recompute, NothingIsRecomputedWhereThePlanFits) {
  const Case c{"resnet20", "cifar10", 16};
  Training kept(c);
  Training fits(c, kept.stats().devices[0].peak_bytes);
  EXPECT_EQ(fits.stats().num_recomputed, 0);
  EXPECT_EQ(fits.stats().num_steps, kept.stats().num_steps);
}

TEST(Recompute, ATighterLimitNeverRecomputesLess) {
  const Case c{"resnet20", "cifar10", 16};
  Training kept(c);
  double before = 0;
  for (double share : {0.95, 0.8, 0.6}) {
    const Training tight(c, LimitFor(kept.stats(), share));
    EXPECT_GE(tight.stats().recompute_flops, before) << share;
    before = tight.stats().recompute_flops;
  }
}

TEST(Recompute, CheapLayersGoFirst) {
  const Case c{"resnet20", "cifar10", 16};
  Training kept(c);
  Training little(c, LimitFor(kept.stats(), 0.85));
  const auto& before = kept.stats().steps_by_op;
  const auto& after = little.stats().steps_by_op;
  EXPECT_EQ(after.at("Conv2D"), before.at("Conv2D"));
  EXPECT_GT(after.at("_FusedBatchNormEx"), before.at("_FusedBatchNormEx"));
}

TEST(Recompute, ALimitThatCannotBeMetGivesTheSmallestPlanFound) {
  const Case c{"resnet20", "cifar10", 16};
  Training kept(c);
  const Training tight(c, 1);
  EXPECT_LT(tight.stats().peak_bytes, kept.stats().peak_bytes);
}

}  // namespace muster
