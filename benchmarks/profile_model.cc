// profile_model MODEL DATASET BATCH [STEPS [DTYPE [ROWS]]]: where the time of a training step goes, by operation and by
// step: the least of STEPS runs of each step. For developers; measures one thread team on an otherwise idle machine.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "compile/pipeline.h"
#include "muster/models.h"
#include "muster/ops.h"
#include "muster/optimizer.h"
#include "run/executor.h"
#include "session/local_devices.h"

using namespace muster;  // NOLINT

int main(int argc, char** argv) {
  if (argc < 4) return std::fprintf(stderr, "usage: profile_model MODEL DATASET BATCH [STEPS [DTYPE [ROWS]]]\n"), 2;
  const int64_t batch = std::atoll(argv[3]);
  const int num_steps = argc > 4 ? std::atoi(argv[4]) : 5;
  Graph graph;
  Scope root(&graph);
  const Model& model = FindModel(argv[1], argv[2]);
  Output images = ops::MakeVariable(
      root, "images", ops::TruncatedNormal(root, DType::kFloat32, Shape{batch, model.image_size, model.image_size, 3}),
      false);
  Output labels = ops::RandomUniformInt(root, DType::kInt32, Shape{batch}, 0, FindDataset(argv[2]).num_classes - 1);
  TowerOptions options;
  if (argc > 5 && std::string_view(argv[5]) == "bfloat16") options.layers.dtype = DType::kBFloat16;
  options.weight_decay.rate = 4e-5;
  const Tower tower = BuildTrainingTower(root, model, images, labels, options);
  const NodeId step = BuildTrainStep(root, tower, *GradientDescentOptimizer(1e-4), GlobalStep(root));

  std::vector<LocalDevice> local = MakeLocalDevices({});
  VariableTable table;
  CompileRequest request;
  request.graph = &graph;
  request.fetches = {tower.total_loss};
  request.targets = {step};
  request.devices = {{local[0].device->name(), local[0].kernels, local[0].caps}};
  request.variables = &table;
  Plan plan = Compile(request);
  VariableMemory memory({local[0].device.get()});
  memory.Ensure(table);
  CompileRequest init = request;
  init.fetches.clear();
  init.targets.clear();
  for (const VariableInfo& info : graph.variables()) init.targets.push_back(info.initializer);
  Executor(Compile(init), {local[0].device.get()}, table, memory).Run(0, {});
  Executor executor(std::move(plan), {local[0].device.get()}, table, memory);
  std::vector<double> seconds;
  executor.RunTimed(0, &seconds);
  std::vector<double> least(seconds.size(), 1e9);
  for (int s = 1; s <= num_steps; ++s) {
    std::fill(seconds.begin(), seconds.end(), 0);
    executor.RunTimed(s, &seconds);
    for (size_t i = 0; i < seconds.size(); ++i) least[i] = std::min(least[i], seconds[i]);
  }
  seconds = least;

  const auto& steps = executor.plan().partitions[0].steps;
  std::map<std::string, std::pair<double, int>> by_op;
  double total = 0;
  std::vector<size_t> order;
  for (size_t s = 0; s < steps.size(); ++s) {
    auto& [time, count] = by_op[std::string(OpName(steps[s].kind))];
    time += seconds[s];
    ++count;
    total += seconds[s];
    order.push_back(s);
  }
  std::printf("%.3f ms per step, %.1f images/s\n", total * 1e3, batch / total);
  std::vector<std::pair<double, std::string>> ops_sorted;
  for (auto& [name, value] : by_op) ops_sorted.emplace_back(value.first, name);
  std::sort(ops_sorted.rbegin(), ops_sorted.rend());
  for (auto& [time, name] : ops_sorted)
    if (time / total > 0.001)
      std::printf("%8.3f ms %5.1f %%  %4d x %s\n", time * 1e3, 100 * time / total, by_op[name].second, name.c_str());
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return seconds[a] > seconds[b]; });
  const size_t rows = argc > 6 ? static_cast<size_t>(std::atoi(argv[6])) : 20;
  for (size_t i = 0; i < std::min(rows, order.size()); ++i) {
    const Step& step = steps[order[i]];
    std::printf("%8.3f ms  %s %s", seconds[order[i]] * 1e3, std::string(OpName(step.kind)).c_str(), step.name.c_str());
    for (const TensorDesc& d : step.input_descs) std::printf(" %s", d.shape.ToString().c_str());
    std::printf("\n");
  }
  return 0;
}
