// Numbers too small for the normal form are zeros on every thread that computes for a session, whatever ran on it
// before, and the caller's threads stay as they were.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "compile/pipeline.h"
#include "muster/ops.h"
#include "muster/session.h"
#include "run/executor.h"
#include "session/local_devices.h"

namespace muster {
namespace {

#ifdef __SSE2__

constexpr int kThreads = 4;
constexpr float kSmallest = std::numeric_limits<float>::min();
const Shape kShape{1 << 18};  // work for all threads

// What each thread of the caller's team makes of half the smallest normal number; volatile, so that the compiler does
// not compute it.
std::vector<float> InTheCallersTeam() {
  std::vector<float> seen(kThreads, -1);
#pragma omp parallel for num_threads(kThreads) schedule(static, 1)
  for (int i = 0; i < kThreads; ++i) {
    volatile float smallest = kSmallest;
    seen[static_cast<size_t>(i)] = smallest / 2;
  }
  return seen;
}

int NumNotZero(const Tensor& x) {
  int count = 0;
  for (float value : x.data<float>()) count += value != 0;
  return count;
}

struct Devices {
  const char* name;
  std::vector<std::string> devices;
  int num_gpus;
};

void PrintTo(const Devices& d, std::ostream* os) { *os << d.name; }

class DenormalsInASession : public ::testing::TestWithParam<Devices> {};

TEST_P(DenormalsInASession, AreZerosOnAllThreadsThatCompute) {
  Graph graph;
  const Scope root(&graph);
  std::vector<Output> feeds, products;
  std::vector<Tensor> values;
  for (const std::string& device : GetParam().devices) {
    const Scope scope = root.WithDevice(device);
    feeds.push_back(ops::Placeholder(scope, DType::kFloat32, kShape));
    values.emplace_back(DType::kFloat32, kShape);
    std::ranges::fill(values.back().data<float>(), kSmallest);
    products.push_back(ops::Mul(scope, feeds.back(), ops::Scalar<float>(scope, 0.5f)));
  }
  SessionOptions options{.num_cpu_devices = 2, .intra_op_threads = kThreads};
  options.gpu.simulated_gpus = GetParam().num_gpus;
  const std::vector<float> before = InTheCallersTeam();
  EXPECT_THAT(before, ::testing::Each(kSmallest / 2));
  Session session(&graph, options);
  const auto runner = session.Prepare(feeds, products, {});
  for (int step = 0; step < 2; ++step) {
    for (const Tensor& product : runner->Run(values)) EXPECT_EQ(NumNotZero(product), 0) << "step " << step;
    EXPECT_EQ(InTheCallersTeam(), before) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(On, DenormalsInASession,
                         ::testing::Values(Devices{"one_cpu", {"/cpu:0"}, 0},
                                           Devices{"two_cpus", {"/cpu:0", "/cpu:1"}, 0},
                                           Devices{"simulated_gpus", {"/gpu:0", "/gpu:1"}, 2}),
                         [](const auto& info) { return std::string(info.param.name); });

// Products of numbers in [0, 1) and the smallest normal one.
TEST(DenormalsInATimedRun, AreZeros) {
  Graph graph;
  const Scope root(&graph);
  const Output product =
      ops::Mul(root, ops::RandomUniform(root, DType::kFloat32, kShape), ops::Scalar<float>(root, kSmallest));
  std::vector<LocalDevice> local = MakeLocalDevices({.intra_op_threads = kThreads});
  VariableTable table;
  CompileRequest request;
  request.graph = &graph;
  request.fetches = {product};
  request.devices = {{local[0].device->name(), local[0].kernels, local[0].caps}};
  request.variables = &table;
  Plan plan = Compile(request);
  VariableMemory memory({local[0].device.get()});
  memory.Ensure(table);
  Executor executor(std::move(plan), {local[0].device.get()}, table, memory);
  const std::vector<float> before = InTheCallersTeam();
  std::vector<double> seconds;
  executor.RunTimed(0, &seconds);
  EXPECT_EQ(NumNotZero(executor.Fetch()[0]), 0);
  EXPECT_EQ(InTheCallersTeam(), before);
}

#endif

}  // namespace
}  // namespace muster
