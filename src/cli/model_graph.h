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
  // Towers on the devices 0, 1, … of the type that "device" names; 0: one copy of the model without a tower around it.
  // Only with "training".
  int num_towers = 0;
  std::string variable_update = "parameter_server";  // of towers; also "replicated", "independent"
  bool parameters_on_cpu = false;                    // of towers; else on their devices
  std::string all_reduce_spec;                       // of replicated towers
  int64_t bucket_mb = 25;                            // of their gradients; 0: each is exchanged by itself
};

// A model's graph, and the part of it that a step runs.
struct ModelGraph {
  const Model* model = nullptr;
  int64_t batch_size = 0;
  Graph graph;
  std::vector<NodeId> step;  // in order
};

// The devices of the towers: "/device:GPU:0", "/device:GPU:1", … Throws InvalidArgument unless "device" names a type.
std::vector<std::string> TowerDevices(const GraphRequest& request);

// Throws InvalidArgument for an unknown model (with the known ones), data set or device.
std::unique_ptr<ModelGraph> BuildModelGraph(const GraphRequest& request);

// The model of this name: for the data set, or for the first that has it.
const Model& FindRequestedModel(const std::string& name, const std::string& dataset);

}  // namespace muster::cli
