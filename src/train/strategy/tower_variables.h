#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "muster/strategy.h"

namespace muster::train {

// Hands the layers of each tower their variables, as the strategy lays them out, and remembers what belongs together.
// Lives while the towers are built.
class TowerVariables {
 public:
  explicit TowerVariables(const StrategyOptions& strategy) : strategy_(strategy) {}

  // The variable scope of a tower: "v", or "v0", "v1", … for copies.
  std::string ScopeName(int tower) const;
  // To be called by one tower's builder; keeps a pointer to this object.
  VariableGetter GetterOf(int tower);

  // From now on all copies use the first one's variables that are not trained.
  void ShareUntrained() { shares_untrained_ = true; }

  // The variable that is updated where a tower reads "read": the shared one behind a staged copy, otherwise the same.
  Variable Updated(const Variable& read) const;
  // Copies of shared variables that towers read, each with what it follows, in the order of creation.
  struct Staged {
    Variable copy, original;
  };
  const std::vector<Staged>& staged() const { return staged_; }

 private:
  Variable Shared(const Scope& scope, const VariableSpec& spec);
  Variable StagedCopy(const Scope& scope, const VariableSpec& spec, int tower);
  Variable Copy(const Scope& scope, const VariableSpec& spec, int tower) const;
  std::string DeviceFor(int64_t elements);

  const StrategyOptions& strategy_;
  bool shares_untrained_ = false;
  std::map<std::string, int64_t> elements_on_;  // by device
  std::vector<Staged> staged_;
  std::map<NodeId, Variable> original_of_;  // by staged copy
};

}  // namespace muster::train
