// Gradients of copies travel in buckets: fewer transfers, the same bits, and during the backward pass.

#include "train/strategy/buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "muster/error.h"
#include "muster/ops.h"
#include "muster/strategy.h"
#include "tests/train/towers_on_devices.h"

namespace muster::train {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kBatch = 4;

// Convolutions whose filters have a form of their own on the CPU, and dense layers. Channels fill the widest vectors: a
// form that is padded would travel with its padding.
const Model& DeepNet() {
  static const Model model = {
      .name = "deep_net", .dataset = "cifar10", .image_size = 12, .layers = [](ModelBuilder& builder, Output x) {
        x = builder.Conv(x, 16, 5, 5, {.strides = {2, 2}});
        x = builder.Conv(x, 16, 3, 3, {.strides = {2, 2}});
        x = builder.Conv(x, 32, 3, 3);
        return builder.Affine(builder.Affine(builder.Flatten(x), 40), 30);
      }};
  return model;
}

class Replicas {
 public:
  Replicas(ExchangeOptions exchange, std::vector<std::string> devices, const SessionOptions& session)
      : towers_(static_cast<int>(devices.size())) {
    const StrategyOptions strategy{.variable_update = VariableUpdate::kReplicated,
                                   .tower_devices = std::move(devices),
                                   .exchange = std::move(exchange)};
    TowerOptions options;
    options.weight_decay.rate = 1e-3;
    options.num_classes = 10;
    const auto build = [this](const Scope& scope, int, const TowerOptions& tower) {
      const Output images = ops::Placeholder(scope, DType::kFloat32, {kBatch, 12, 12, 3}),
                   labels = ops::Placeholder(scope, DType::kInt32, {kBatch});
      feeds_.insert(feeds_.end(), {images, labels});
      return BuildTrainingTower(scope, DeepNet(), images, labels, tower);
    };
    set_ = BuildTrainingTowers(Scope(&graph_), strategy, options, build, [] { return MomentumOptimizer(0.05, 0.9); });
    session_ = std::make_unique<Session>(&graph_, session);
    runner_ = session_->Prepare(feeds_, {set_.total_loss}, {set_.train_step});
    session_
        ->Initialize();  // behind Prepare, so that variables have their forms when they get their memory, side by side
  }

  // Losses of some steps, then all weights of the first and the last copy.
  std::vector<float> Train(int steps = 3) {
    std::vector<float> values;
    for (int step = 0; step < steps; ++step) values.push_back(runner_->Run(Batches(step))[0].scalar<float>());
    for (const Variable& variable : TrainableVariables(graph_)) {
      const std::string& name = VariableName(graph_, variable);
      if (name.starts_with("v0/") || name.starts_with("v" + std::to_string(towers_ - 1) + "/"))
        for (float value : Values(session_->ReadVariable(variable.ref))) values.push_back(value);
    }
    return values;
  }

  PlanSummary Summary() const { return runner_->Summary(); }
  PlanStats Stats() const { return runner_->stats(); }
  Timeline Trace() {
    Timeline timeline;
    runner_->RunTraced(Batches(0), &timeline);
    return timeline;
  }

 private:
  std::vector<Tensor> Batches(int step) const {
    std::vector<Tensor> values;
    for (int t = 0; t < towers_; ++t) {
      Tensor images(DType::kFloat32, {kBatch, 12, 12, 3}), labels(DType::kInt32, {kBatch});
      for (int64_t e = 0; e < images.shape().num_elements(); ++e)
        images.data<float>()[static_cast<size_t>(e)] = std::sin(static_cast<float>(e * (step + 1) + t * 37));
      for (int32_t i = 0; i < kBatch; ++i) labels.data<int32_t>()[static_cast<size_t>(i)] = (i + t) % 10;
      values.insert(values.end(), {images, labels});
    }
    return values;
  }

  int towers_;
  Graph graph_;
  std::vector<Output> feeds_;
  TowerSet set_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Runner> runner_;
};

ExchangeOptions InBuckets(int64_t bytes, const std::string& spec = "") {
  ExchangeOptions options{.bucket_bytes = bytes, .first_bucket_bytes = std::min<int64_t>(bytes, 1024)};
  if (!spec.empty()) options.all_reduce_spec = ParseAllReduceSpec(spec);
  return options;
}

TEST(Buckets, FillUpInTheOrderInWhichGradientsAreMade) {
  Graph graph;
  const ExchangeContext context{Scope(&graph), CpuDevices(2), 1, CpuDevices(2)};
  std::vector<Parts> gradients(6);
  for (const size_t i : {5, 4, 3, 1, 2, 0})  // the backward pass makes the last one first
    for (int t = 0; t < 2; ++t)
      gradients[i].push_back(ops::Placeholder(context.OnTower(t), DType::kFloat32, {static_cast<int64_t>(i) + 1}));
  EXPECT_THAT(Buckets(context, gradients, 20, 32).members(),
              ElementsAre(ElementsAre(5), ElementsAre(3, 4), ElementsAre(0, 1, 2)))
      << "24 bytes are enough for the first; then 20 + 16; the rest";
  EXPECT_THAT(Buckets(context, gradients, 1, 1).members().size(), 6u);
  EXPECT_THAT(Buckets(context, gradients, 1 << 20, 1 << 20).members(), ElementsAre(ElementsAre(0, 1, 2, 3, 4, 5)));
}

TEST(Buckets, HoldTensorsOfOneType) {
  Graph graph;
  const ExchangeContext context{Scope(&graph), CpuDevices(1), 1, CpuDevices(1)};
  std::vector<Parts> gradients;
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat32})
    gradients.push_back({ops::Placeholder(context.OnTower(0), dtype, {4})});
  EXPECT_THAT(Buckets(context, gradients, 1 << 20, 1 << 20).members(), ElementsAre(ElementsAre(0, 2), ElementsAre(1)));
}

// Each tensor lies on an aligned offset, so a bucket is longer than its tensors together.
TEST(Buckets, OfHalfPrecisionAreSummedToTheirEnd) {
  Graph graph;
  const Scope scope(&graph);
  std::vector<Output> feeds, buckets;
  std::vector<Tensor> values;
  for (const float factor : {1.0f, 10.0f}) {
    std::vector<Output> tensors;
    for (const int64_t size : {3, 50, 1}) {
      feeds.push_back(ops::Placeholder(scope, DType::kFloat32, {size}));
      tensors.push_back(ops::Cast(scope, feeds.back(), DType::kFloat16));
      values.emplace_back(DType::kFloat32, Shape{size});
      for (size_t i = 0; i < values.back().data<float>().size(); ++i)
        values.back().data<float>()[i] = factor * static_cast<float>(i + 1);
    }
    buckets.push_back(ops::Bucket(scope, tensors));
  }
  std::vector<Output> fetches;
  for (Output sum : ops::Unbucket(scope, ops::AddN(scope, buckets), {{3}, {50}, {1}}))
    fetches.push_back(ops::Cast(scope, sum, DType::kFloat32));
  Session session(&graph);
  for (const Tensor& sum : session.Prepare(feeds, fetches)->Run(values))
    for (size_t i = 0; i < sum.data<float>().size(); ++i)
      EXPECT_EQ(sum.data<float>()[i], 11 * static_cast<float>(i + 1))
          << "element " << i << " of " << sum.shape().ToString();
}

TEST(Buckets, ChangeNoBit) {
  for (const int towers : {2, 3, 4}) {
    const std::vector<float> expected = Replicas(InBuckets(0), CpuDevices(towers), OnCpus(towers)).Train();
    for (const int64_t bytes : {1, 4000, 20000, 1 << 20}) {
      EXPECT_EQ(Replicas(InBuckets(bytes), CpuDevices(towers), OnCpus(towers)).Train(), expected) << bytes;
      for (const uint64_t seed : {0, 1, 2})
        EXPECT_EQ(Replicas(InBuckets(bytes), GpuDevices(towers), OnSimulatedGpus(towers, seed)).Train(), expected)
            << bytes << ", seed " << seed;
    }
  }
}

// Where devices do not share a form of weights, or memory is not planned, tensors are copied into buckets and out of
// them.
TEST(Buckets, ChangeNoBitWhereTheyAreCopied) {
  ExchangeOptions none = InBuckets(0), some = InBuckets(4000);
  none.sum_on_cpu = some.sum_on_cpu = true;
  EXPECT_EQ(Replicas(some, GpuDevices(2), OnSimulatedGpus(2, 1)).Train(),
            Replicas(none, GpuDevices(2), OnSimulatedGpus(2, 1)).Train());
  SessionOptions separate = OnCpus(2), plain = OnCpus(2);
  separate.use_arena = plain.optimize = false;
  EXPECT_EQ(Replicas(some, CpuDevices(2), separate).Train(), Replicas(none, CpuDevices(2), separate).Train());
  EXPECT_EQ(Replicas(some, CpuDevices(2), plain).Train(), Replicas(none, CpuDevices(2), plain).Train());
}

TEST(Buckets, WorkWithEveryAlgorithm) {
  for (const char* spec : {"psgpu", "psgpu#2", "pscpu", "xring", "xring#2", "collective", "xring:500:psgpu#2"}) {
    SCOPED_TRACE(spec);
    const std::vector<float> whole = Replicas(InBuckets(0, spec), CpuDevices(3), OnCpus(3)).Train(),
                             first = Replicas(InBuckets(20000, spec), CpuDevices(3), OnCpus(3)).Train();
    ASSERT_EQ(first.size(), whole.size());
    for (size_t i = 0; i < whole.size(); ++i)
      ASSERT_NEAR(first[i], whole[i], 1e-5 * std::max(1.0f, std::abs(whole[i])));
    EXPECT_EQ(Replicas(InBuckets(20000, spec), CpuDevices(3), OnCpus(3)).Train(), first);
  }
}

int CountSteps(const PlanSummary::Partition& partition, const std::string& op) {
  int count = 0;
  for (const PlanSummary::Step& step : partition.steps) count += step.op.starts_with(op);
  return count;
}

// 12 gradients, of three convolutions and three dense layers.
TEST(Buckets, TakeOneTransferEachWayAndOneUpdate) {
  const PlanSummary each = Replicas(InBuckets(0), CpuDevices(2), OnCpus(2)).Summary(),
                    buckets = Replicas(InBuckets(20000), CpuDevices(2), OnCpus(2)).Summary();
  int64_t in_buckets = 0, alone = 0;
  for (const PlanSummary::Transfer& t : buckets.transfers) in_buckets += t.bytes > 64;
  for (const PlanSummary::Transfer& t : each.transfers) alone += t.desc.shape.rank() > 0;
  const int num_buckets = CountSteps(buckets.partitions[0], "Bucket");
  EXPECT_EQ(alone, 24) << "a gradient goes to its root and a sum back";
  EXPECT_EQ(in_buckets, 2 * num_buckets);
  EXPECT_GT(num_buckets, 2);
  EXPECT_LT(num_buckets, 8);
  for (const PlanSummary::Partition& partition : buckets.partitions)
    EXPECT_EQ(CountSteps(partition, "ApplyMomentum"), num_buckets) << partition.device;
}

// Where a step of this kind stands on a device, first or last; -1: nowhere.
int Position(const PlanSummary::Partition& partition, const std::string& op, bool is_last) {
  int found = -1;
  for (int i = 0; i < static_cast<int>(partition.steps.size()); ++i)
    if (partition.steps[static_cast<size_t>(i)].op.find(op) != std::string::npos && (found < 0 || is_last)) found = i;
  return found;
}

// A sum comes back two buckets later, so there must be more than three.
TEST(Buckets, AreSummedDuringTheBackwardPassAndAppliedBehindIt) {
  const PlanSummary plan = Replicas(InBuckets(2000), CpuDevices(2), OnCpus(2)).Summary();
  for (const PlanSummary::Partition& partition : plan.partitions) {
    const int last_gradient = Position(partition, "Conv2DBackpropFilter", true);
    ASSERT_GE(last_gradient, 0) << partition.device;
    EXPECT_LT(Position(partition, "Bucket", false), last_gradient) << partition.device;
    EXPECT_LT(Position(partition, "AddN", false), last_gradient) << partition.device;
    EXPECT_GT(Position(partition, "ApplyMomentum", false), last_gradient) << partition.device;
  }
}

TEST(Buckets, OfARingThatNamesATowerTwiceAreRefused) {
  ExchangeOptions options = InBuckets(0, "xring");
  options.ring_order = {0, 0};
  EXPECT_THROW(Replicas(options, CpuDevices(2), OnCpus(2)), Error);
  options.ring_order = {0, 1, 2};
  EXPECT_THROW(Replicas(options, CpuDevices(2), OnCpus(2)), Error);
  options.ring_order = {1, 0};
  EXPECT_NO_THROW(Replicas(options, CpuDevices(2), OnCpus(2)));
}

TEST(HalfPrecision, HalvesWhatTravelsAndStaysClose) {
  ExchangeOptions half = InBuckets(20000);
  half.half_precision = true;
  Replicas narrow(half, CpuDevices(2), OnCpus(2)), wide(InBuckets(20000), CpuDevices(2), OnCpus(2));
  const auto bytes = [](const PlanSummary& plan) {
    int64_t sum = 0;
    for (const PlanSummary::Transfer& t : plan.transfers) sum += t.bytes;
    return static_cast<double>(sum);
  };
  EXPECT_NEAR(bytes(narrow.Summary()) / bytes(wide.Summary()), 0.5, 0.02);
  const std::vector<float> a = narrow.Train(), b = wide.Train();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 3e-3 * std::max(1.0f, std::abs(b[i])));
  EXPECT_NE(a, b) << "something was rounded";
  EXPECT_EQ(Replicas(half, CpuDevices(2), OnCpus(2)).Train(), a);
  EXPECT_EQ(Replicas(half, GpuDevices(2), OnSimulatedGpus(2, 3)).Train(), a);
}

TEST(SplitBatch, NamesSizesThatFit) {
  Graph graph;
  const Scope scope(&graph);
  EXPECT_EQ(SplitBatch(scope, ops::Placeholder(scope, DType::kFloat32, {12, 2}), 3).size(), 3u);
  try {
    SplitBatch(scope, ops::Placeholder(scope, DType::kFloat32, {10, 2}), 3);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a batch of 10 does not split evenly among 3 towers; 9 or 12 would");
  }
}

}  // namespace
}  // namespace muster::train
