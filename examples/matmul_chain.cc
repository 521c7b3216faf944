// A chain of matrix products placed by hand on two devices: A^n on the first, B^n on the second, both at once, and
// their sum on the CPU. Prints the placement log (each operation once), what travelled between devices, and the result.
//
//   example_matmul_chain        two CPU devices
//   example_matmul_chain gpu    two simulated GPUs

#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "muster/ops.h"
#include "muster/session.h"

using namespace muster;  // NOLINT: an example should be short

namespace {

constexpr int kPower = 10;

// m * m * … * m, each product an operation of its own on the scope's device.
Output MatPow(const Scope& scope, Output m, int power) {
  Output result = m;
  for (int i = 1; i < power; ++i) result = ops::MatMul(scope, m, result);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const bool on_gpus = argc > 1 && std::strcmp(argv[1], "gpu") == 0;
  if (argc > 1 && !on_gpus) return std::fprintf(stderr, "usage: example_matmul_chain [gpu]\n"), 2;

  Graph graph;
  Scope root(&graph);
  Scope first = root.WithDevice(on_gpus ? "/gpu:0" : "/cpu:0").WithName("first");
  Scope second = root.WithDevice(on_gpus ? "/gpu:1" : "/cpu:1").WithName("second");
  Scope cpu = root.WithDevice("/cpu:0");
  // Fed, not constants: products of constants would be computed when the graph is compiled.
  Output a = ops::Placeholder(first.Named("A"), DType::kFloat32, Shape{2, 2});
  Output b = ops::Placeholder(second.Named("B"), DType::kFloat32, Shape{2, 2});
  Output left = MatPow(first, a, kPower), right = MatPow(second, b, kPower);
  Output sum = ops::Add(cpu.Named("sum"), left, right);

  SessionOptions options;
  options.num_cpu_devices = on_gpus ? 1 : 2;
  options.gpu.simulated_gpus = on_gpus ? 2 : 0;
  Session session(&graph, options);
  std::printf("Where each operation is:\n");
  const std::vector<std::string> log = session.DevicePlacement();  // SessionOptions::log_device_placement prints it too
  for (const std::string& line : log) std::printf("  %s\n", line.c_str());
  const bool each_once = std::set<std::string>(log.begin(), log.end()).size() == static_cast<size_t>(graph.num_nodes());

  auto runner = session.Prepare({a, b}, {sum});
  std::printf("What travels between devices in a run:\n");
  for (const auto& t : runner->Summary().transfers)
    std::printf("  %s, %lld bytes, %s -> %s\n", t.value.c_str(), static_cast<long long>(t.bytes), t.from.c_str(),
                t.to.c_str());

  // [[1,1],[0,1]]^n = [[1,n],[0,1]], and [[2,0],[0,1]]^n = [[2^n,0],[0,1]].
  const Tensor result =
      runner->Run({Tensor::Of<float>(Shape{2, 2}, {1, 1, 0, 1}), Tensor::Of<float>(Shape{2, 2}, {2, 0, 0, 1})})[0];
  const auto v = result.data<float>();
  std::printf("A^%d + B^%d = [[%g, %g], [%g, %g]]\n", kPower, kPower, v[0], v[1], v[2], v[3]);
  return each_once && v[0] == 1025 && v[1] == 10 && v[2] == 0 && v[3] == 2 ? 0 : 1;
}
