// checkpoint_stall MODEL DATASET BATCH FOLDER: what a checkpoint in the background costs the training that goes on
// meanwhile. Training steps alone, then as many with a checkpoint that begins with the first; the difference is the
// stall. FOLDER must exist; the checkpoints written there are removed. For an otherwise idle machine.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/clock.h"
#include "muster/models.h"
#include "muster/ops.h"
#include "muster/optimizer.h"
#include "muster/saver.h"
#include "muster/session.h"

using namespace muster;  // NOLINT

namespace {

constexpr double kMinute = 60;

double BytesOf(const Graph& graph) {
  double bytes = 0;
  for (const VariableInfo& info : graph.variables()) bytes += static_cast<double>(graph.desc(info.ref).byte_size());
  return bytes;
}

// Something else that runs for a moment spoils one round, not the result.
double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "usage: checkpoint_stall MODEL DATASET BATCH FOLDER\n"), 2;
  const int64_t batch = std::atoll(argv[3]);
  Graph graph;
  Scope root(&graph);
  const Model& model = FindModel(argv[1], argv[2]);
  const Output images = ops::RandomUniform(root, DType::kFloat32, Shape{batch, model.image_size, model.image_size, 3});
  const Output labels =
      ops::RandomUniformInt(root, DType::kInt32, Shape{batch}, 0, FindDataset(argv[2]).num_classes - 1);
  const Tower tower = BuildTrainingTower(root, model, images, labels, {});
  const NodeId step = BuildTrainStep(root, tower, *MomentumOptimizer(1e-6, 0.9), GlobalStep(root));
  Session session(&graph);
  const std::unique_ptr<Runner> runner = session.Prepare({}, {tower.total_loss}, {step});
  session.Initialize();
  Saver saver(&graph, SaverOptions{.max_to_keep = 1});
  const std::string folder = std::filesystem::path(argv[4]) / "checkpoint_stall", prefix = folder + "/model.ckpt";
  std::filesystem::create_directory(folder);

  const auto run = [&](int64_t steps) {
    const double start = SteadySeconds();
    for (int64_t i = 0; i < steps; ++i) runner->Run();
    return SteadySeconds() - start;
  };
  run(2);
  const double write_start = SteadySeconds();
  saver.Save(session, prefix, 0);  // also makes the graph's file, which later ones take over
  const double write_seconds = SteadySeconds() - write_start;
  // Twice as long as writing takes on an idle machine, for here it shares the cores.
  const int64_t steps = static_cast<int64_t>(2 * write_seconds / (run(3) / 3)) + 3;
  std::vector<double> stalls, copies;
  constexpr int kRounds = 5;
  for (int round = 0; round < kRounds; ++round) {
    const double alone = run(steps), start = SteadySeconds();
    saver.SaveInBackground(session, prefix, round + 1);
    const double copied = SteadySeconds();
    run(steps);
    const double with = SteadySeconds() - start;
    saver.Wait();
    copies.push_back(copied - start);
    stalls.push_back(with - alone);
    std::printf("%lld steps: %.3f s alone, %.3f s with a checkpoint, of which %.3f s copying\n",
                static_cast<long long>(steps), alone, with, copied - start);
  }
  const double stall = Median(stalls), copy = Median(copies);
  std::printf(
      "%s: %.0f MB of variables; written alone in %.3f s; copied in %.3f s; stall %.3f s, %.2f %% of a minute\n",
      argv[1], BytesOf(graph) / 1e6, write_seconds, copy, stall, 100 * stall / kMinute);
  std::filesystem::remove_all(folder);
  return 0;
}
