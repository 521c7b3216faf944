#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "muster/attrs.h"
#include "muster/variables.h"

namespace muster::testing {

// The variables of a run of golden/trajectories/index.json, made in its order with zeros, by "get" if it is given.
class TrajectoryVariables {
 public:
  TrajectoryVariables(const Scope& scope, DType dtype, const nlohmann::json& listed, const VariableGetter& get = {});

  const Variable& operator[](const std::string& name) const { return by_name_.at(name); }
  const std::map<std::string, Variable>& all() const { return by_name_; }
  bool has(const std::string& name) const { return by_name_.contains(name); }
  const std::vector<Variable>& trainable() const { return trainable_; }
  // Those that weight decay covers: trainable, not of batch norm.
  const std::vector<Variable>& decayed() const { return decayed_; }

 private:
  std::map<std::string, Variable> by_name_;
  std::vector<Variable> trainable_, decayed_;
};

// The three small nets that the folder's README describes, from images in NHWC to logits. Training normalises by batch
// statistics and, with "updates", appends the updates of running averages to it. "format" is that of the operations
// inside.
Output TrajectoryLogits(const std::string& net, const Scope& scope, const TrajectoryVariables& variables, Output images,
                        bool training, std::vector<NodeId>* updates, DataFormat format = DataFormat::kNHWC);

}  // namespace muster::testing
