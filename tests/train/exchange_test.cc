// How gradients meet: ten devices with ten tensors each, all ways to sum them.

#include "train/strategy/exchange.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "muster/ops.h"
#include "tests/train/towers_on_devices.h"
#include "train/strategy/all_reduce.h"

namespace muster::train {
namespace {

constexpr int kTensors = 10;

// Sizes that chunks and shards do not divide, a scalar among them.
Shape ShapeOf(int tensor) {
  const std::vector<Shape> shapes = {Shape{},        Shape{3},  Shape{7, 5},  Shape{1}, Shape{64},
                                     Shape{2, 2, 2}, Shape{31}, Shape{4, 25}, Shape{9}, Shape{128}};
  return shapes[static_cast<size_t>(tensor)];
}

// Whole numbers, so that sums are exact in any order.
float ValueOf(int call, int tower, int tensor, int64_t element) {
  return static_cast<float>((call * 7 + tower * 3 + tensor * 5 + element * (tower + 1)) % 101 - 50);
}

struct ExchangeRun {
  int towers = 10;
  ExchangeOptions options;
  double scale = 1;
  bool on_gpus = false;  // simulated ones, in random order and checked
  DType dtype = DType::kFloat32;

  std::vector<std::string> devices() const { return on_gpus ? GpuDevices(towers) : CpuDevices(towers); }
  std::vector<std::string> cpus() const { return on_gpus ? std::vector<std::string>{"/cpu:0"} : CpuDevices(towers); }
  SessionOptions session() const { return on_gpus ? OnSimulatedGpus(towers, 11) : OnCpus(towers); }
};

// Feeds the towers' gradients, and fetches what each tower gets; one list of tensors per call, by tensor, then tower.
std::vector<std::vector<Tensor>> RunExchange(const ExchangeRun& run, int calls) {
  Graph graph;
  const Scope scope(&graph);
  const ExchangeContext context{scope.WithName("exchange"), run.devices(), run.scale, run.cpus()};
  std::vector<Output> feeds, fetches;
  std::vector<Parts> gradients(kTensors);
  for (int i = 0; i < kTensors; ++i)
    for (int t = 0; t < run.towers; ++t) {
      const Output fed = ops::Placeholder(context.OnTower(t), DType::kFloat32, ShapeOf(i));
      feeds.push_back(fed);
      gradients[static_cast<size_t>(i)].push_back(
          run.dtype == DType::kFloat32 ? fed : ops::Cast(context.OnTower(t), fed, run.dtype));
    }
  const Exchanged exchanged = ExchangeGradients(context, run.options, gradients);
  // Read where the tower is, as its update would.
  for (const Parts& parts : exchanged.gradients)
    for (int t = 0; t < run.towers; ++t) {
      EXPECT_EQ(graph.dtype(parts[static_cast<size_t>(t)]), run.dtype);
      fetches.push_back(
          ops::Neg(context.OnTower(t), ops::Cast(context.OnTower(t), parts[static_cast<size_t>(t)], DType::kFloat32)));
    }
  Session session(&graph, run.session());
  session.Initialize();
  const auto runner = session.Prepare(feeds, fetches, exchanged.also);
  std::vector<std::vector<Tensor>> results;
  for (int call = 0; call < calls; ++call) {
    std::vector<Tensor> values;
    for (int i = 0; i < kTensors; ++i)
      for (int t = 0; t < run.towers; ++t) {
        Tensor value(DType::kFloat32, ShapeOf(i));
        for (int64_t e = 0; e < ShapeOf(i).num_elements(); ++e)
          value.data<float>()[static_cast<size_t>(e)] = ValueOf(call, t, i, e);
        values.push_back(value);
      }
    results.push_back(runner->Run(values));
  }
  return results;
}

// Every tower has minus the sum of call number "call" (nothing before the first call).
void ExpectSums(const std::vector<Tensor>& results, int call, const ExchangeRun& run) {
  for (int i = 0; i < kTensors; ++i)
    for (int64_t e = 0; e < ShapeOf(i).num_elements(); ++e) {
      float sum = 0;
      for (int t = 0; t < run.towers && call >= 0; ++t) sum += ValueOf(call, t, i, e);
      for (int t = 0; t < run.towers; ++t)
        ASSERT_EQ(results[static_cast<size_t>(i * run.towers + t)].data<float>()[static_cast<size_t>(e)],
                  -sum * static_cast<float>(run.scale))
            << "tensor " << i << ", tower " << t << ", element " << e;
    }
}

void ExpectSumsIn(const ExchangeRun& run) {
  const auto results = RunExchange(run, 2);
  for (int call = 0; call < 2; ++call)
    ExpectSums(results[static_cast<size_t>(call)], run.options.relaxed ? call - 1 : call, run);
}

void ExpectSumsOf(const ExchangeOptions& options, int towers = 10) {
  for (double scale : {1.0, 0.5}) ExpectSumsIn({towers, options, scale});
}

ExchangeOptions Spec(const std::string& spec) {
  ExchangeOptions options;
  options.all_reduce_spec = ParseAllReduceSpec(spec);
  return options;
}

TEST(Exchange, PlainCopySumsOnTheTowersOrOnTheCpu) {
  ExpectSumsOf({});
  ExpectSumsOf({.sum_on_cpu = true});
}

TEST(Exchange, EverySpecificationSums) {
  for (const char* spec : {"pscpu", "psgpu", "psgpu#3", "psgpu#10", "pscpu#4", "xring", "xring#2", "nccl", "nccl/xring",
                           "nccl/rechd", "nccl/pscpu", "pscpu/pscpu", "collective", "collective#2",
                           "pscpu:1:psgpu#2:40:xring#3", "xring:8:pscpu:9:nccl"}) {
    SCOPED_TRACE(spec);
    ExpectSumsOf(Spec(spec));
    if (!std::string(spec).ends_with("#10") && !std::string(spec).ends_with("#4")) ExpectSumsOf(Spec(spec), 3);
  }
}

TEST(Exchange, ARingFollowsTheOrderOfTheDevices) {
  ExchangeOptions options = Spec("xring#2");
  options.ring_order = {3, 1, 4, 0, 5, 9, 2, 6, 8, 7};
  ExpectSumsOf(options);
}

TEST(Exchange, HierarchicalCopiesOfEvenAndOddNumbersOfTowers) {
  for (int towers : {2, 3, 5, 8, 10}) ExpectSumsOf({.hierarchical_copy = true}, towers);
  ExpectSumsOf({.hierarchical_copy = true, .network_topology = NetworkTopology::kGcpV100}, 8);
}

TEST(Exchange, RepackingGivesTheLastPackTheRemainder) {
  for (int64_t packs : {1, 2, 3, 10, 1000}) ExpectSumsOf({.gradient_repacking = packs}, 4);
  ExpectSumsOf({.gradient_repacking = 3});
}

TEST(Exchange, RelaxedConsistencyReturnsTheCallBefore) {
  ExpectSumsOf({.relaxed = true});
  ExpectSumsOf({.relaxed = true}, 1);
}

TEST(Exchange, ARingWithRepackingAndRelaxedConsistency) {
  ExchangeOptions options = Spec("xring");
  options.gradient_repacking = 3;
  options.relaxed = true;
  ExpectSumsOf(options);
  options.gradient_repacking = 0;
  ExpectSumsOf(options);
  options.all_reduce_spec.clear();
  options.gradient_repacking = 3;
  ExpectSumsOf(options);
}

// The peer's ten devices and ten tensors, on GPUs, in float32, in float16 on the way and in float16 throughout. Whole
// numbers up to 2048 are exact in float16.
TEST(Exchange, TenSimulatedGpusSumTenTensorsByEveryRule) {
  std::vector<ExchangeOptions> rules = {{},
                                        {.gradient_repacking = 3},
                                        {.relaxed = true},
                                        {.sum_on_cpu = true},
                                        Spec("pscpu"),
                                        Spec("xring"),
                                        Spec("psgpu#3")};
  rules.push_back(Spec("xring"));
  rules.back().gradient_repacking = 3;
  rules.back().relaxed = true;
  for (size_t rule = 0; rule < rules.size(); ++rule)
    for (const auto& [dtype, on_the_way] :
         {std::pair(DType::kFloat32, false), std::pair(DType::kFloat32, true), std::pair(DType::kFloat16, true)}) {
      SCOPED_TRACE(fmt::format("rule {}, {}, {}", rule, DTypeName(dtype), on_the_way));
      ExchangeOptions options = rules[rule];
      options.half_precision = on_the_way;
      ExpectSumsIn({.options = options, .on_gpus = true, .dtype = dtype});
    }
  ExpectSumsIn({.towers = 8, .options = {.hierarchical_copy = true}, .on_gpus = true});
  ExpectSumsIn({.towers = 8, .options = {.hierarchical_copy = true}, .on_gpus = true, .dtype = DType::kFloat16});
}

// The order of additions may differ between algorithms, but a mean is the same bits for every tower and in every run.
TEST(Exchange, SumsOfFractionsAreTheSameBitsInEveryRunAndOnEveryTower) {
  for (const char* spec : {"", "pscpu", "psgpu#2", "xring", "xring#2"}) {
    SCOPED_TRACE(spec);
    const ExchangeRun run{5, *spec == '\0' ? ExchangeOptions{} : Spec(spec), 1.0 / 3};
    const auto first = RunExchange(run, 1)[0], second = RunExchange(run, 1)[0];
    for (size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(Values(first[i]), Values(second[i]));
      EXPECT_EQ(Values(first[i]), Values(first[i / 5 * 5])) << "tower " << i % 5;
    }
  }
}

TEST(Exchange, GroupsOfDevicesTakeTurns) {
  using Groups = std::vector<std::vector<std::string>>;
  EXPECT_EQ(DeviceGroups({"a", "b", "c", "d"}, 2), (Groups{{"a", "c"}, {"b", "d"}}));
  EXPECT_EQ(DeviceGroups({"a", "b", "c"}, 2), (Groups{{"a", "c"}, {"b", "a"}})) << "all are used, the first ones twice";
  EXPECT_EQ(DeviceGroups({"a", "b"}, 1), (Groups{{"a"}, {"b"}}));
  EXPECT_THROW(DeviceGroups({"a"}, 2), Error);
}

// Chunks travel from neighbour to neighbour: each device sends as much as every other.
TEST(Exchange, ARingSendsFromNeighbourToNeighbour) {
  Graph graph;
  const Scope scope(&graph);
  const ExchangeContext context{scope, CpuDevices(4), 1, CpuDevices(4)};
  Parts parts;
  for (int t = 0; t < 4; ++t) parts.push_back(ops::Placeholder(context.OnTower(t), DType::kFloat32, {8}));
  const Parts results = Ring(1)(context, parts, 0);
  std::vector<Output> fetches;
  for (int t = 0; t < 4; ++t) fetches.push_back(ops::Neg(context.OnTower(t), results[static_cast<size_t>(t)]));
  Session session(&graph, OnCpus(4));
  const std::string plan = session.Prepare(parts, fetches)->PlanText();
  // Twice three hops for each of four chunks.
  size_t receives = 0;
  for (size_t at = plan.find("_Recv"); at != std::string::npos; at = plan.find("_Recv", at + 1)) ++receives;
  EXPECT_EQ(receives, 24u) << plan;
}

}  // namespace
}  // namespace muster::train
