#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/models.h"

namespace muster::cli {

// Which graph "muster graph" shows.
struct GraphRequest {
  std::string model;
  std::string dataset;                // "": the first data set that has the model
  std::optional<int64_t> batch_size;  // the model's own otherwise
  DataFormat data_format = DataFormat::kNHWC;
  bool training = false;  // with gradients and updates; otherwise the inference graph
  std::string optimizer = "sgd";
  std::string device;  // "": none asked for
};

// A model's graph, and the part of it that a step runs.
struct ModelGraph {
  const Model* model = nullptr;
  int64_t batch_size = 0;
  Graph graph;
  std::vector<NodeId> step;  // in order
};

// Throws InvalidArgument for an unknown model (with the known ones), data set or device.
std::unique_ptr<ModelGraph> BuildModelGraph(const GraphRequest& request);

// The model of this name: for the data set, or for the first that has it.
const Model& FindRequestedModel(const std::string& name, const std::string& dataset);

}  // namespace muster::cli
