#pragma once

#include <map>
#include <vector>

#include "compile/compile_graph.h"

namespace muster {

// From which step to which each value of a partition must keep its bytes. Values that share bytes (aliases, in-place
// outputs) form a group with one lifetime.
class Lifetimes {
 public:
  explicit Lifetimes(const CompileGraph& graph) : graph_(graph) {}

  struct Life {
    int group = 0;
    int64_t bytes = 0;
    int first = 0, last = 0;
  };

  // "value" appears as an output of step "step".
  void Define(Output value, int step);
  // "value" is "of" under another name.
  void Alias(Output value, Output of);
  // "value" is read by step "step".
  void Use(Output value, int step);
  // "output" takes over the bytes of "input"; both are roots that were defined here.
  void Merge(Output input, Output output);

  // The value whose bytes these are, aliases looked through.
  Output Root(Output value) const;
  int Group(Output root) const;
  // The last step that reads the group; the defining step if none does.
  int LastUse(Output root) const;
  bool IsMerged(Output root) const;
  std::vector<Life> Groups() const;

 private:
  const CompileGraph& graph_;
  std::map<Output, Output> alias_;
  std::map<Output, int> group_of_;
  std::vector<Life> lives_;
  std::vector<int> members_;  // by group; 0 once merged away
};

}  // namespace muster
