#include "cli/commands.h"

namespace muster::cli {

const std::vector<Command>& Commands() {
  static const std::vector<Command> commands = {
      {"bench", "measure training or inference speed, with the flags and output of tf_cnn_benchmarks", BenchCommand},
      {"train", "train a network on real images to a target accuracy", TrainCommand},
      {"devices", "show what this machine has to compute with, and what Muster would use of it", DevicesCommand},
      {"graph", "show or export a model's graph: layers, parameters, arithmetic, devices", GraphCommand},
      {"checkpoint", "list, verify or compare checkpoints in TensorFlow's format", CheckpointCommand},
      {"data", "verify a data set, or decode its images once and for all", DataCommand},
  };
  return commands;
}

}  // namespace muster::cli
