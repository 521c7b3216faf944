#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "compile/compile_graph.h"
#include "compile/pipeline.h"

namespace muster {

// One device's schedule as its arena sees it. Answers what the arena would have to hold if some results of the forward
// pass were not kept, but computed again in the backward pass; a question takes microseconds, no graph is changed.
//
// A "dropped" step runs twice: where it stands, for its readers in the forward pass, and again right before its first
// reader in the backward pass (or before the repetition of a step that needs it, if that is earlier), for all of those.
class LiveBytes {
 public:
  static constexpr int kNever = std::numeric_limits<int>::max();

  struct Step {
    NodeId node = kNoNode;
    bool is_late = false;                       // in the backward pass, behind it, or an update
    bool may_repeat = false;                    // computing it again gives the same bits and touches nothing else
    std::vector<int> inputs, outputs;           // numbers of values; -1 for an input that lies outside the arena
    std::vector<std::pair<int, int>> in_place;  // output and input that may share bytes
    int64_t workspace_bytes = 0;
    std::vector<NodeId> variables;  // read by it
    std::vector<int> overwritten;   // steps that write one of these
  };
  struct Value {
    int64_t bytes = 0;
    int producer = 0;
    bool may_drop = false;    // late readers take the repeated step's; statistics of a batch norm are kept
    bool is_outside = false;  // lies in the gradient region or came from another device
    bool is_fetched = false;
    std::vector<int> readers;  // steps
  };
  struct Answer {
    bool is_possible = true;  // false: a repeated step would see a variable that was updated meanwhile
    int64_t peak_bytes = 0;
    double excess = 0;  // sum over steps of the bytes above the limit
  };

  // "order" is the schedule of all devices; kernels are prepared (and given up) to learn what they need.
  LiveBytes(const CompileGraph& graph, const CompileRequest& request, int device, const std::vector<NodeId>& order);

  int size() const { return static_cast<int>(steps_.size()); }
  const Step& step(int i) const { return steps_[static_cast<size_t>(i)]; }
  const Value& value(int v) const { return values_[static_cast<size_t>(v)]; }
  // The number of a value of this device's arena, aliases looked through; -1 for anything else.
  int Find(Output value) const;

  // "dropped" holds a flag for each step.
  Answer Ask(const std::vector<char>& dropped, int64_t limit_bytes);
  // After Ask: the step right before which this one is repeated; kNever if it is not.
  int RepeatedBefore(int step) const { return repeated_before_[static_cast<size_t>(step)]; }

 private:
  void AddStep(const CompileGraph& graph, const CompileRequest& request, NodeId id);
  void NoteWriters();
  bool ChooseRepetitions(const std::vector<char>& dropped);
  void BuildSequence();
  void FindLifetimes();
  void ShareInPlace();
  Answer Sum(int64_t limit_bytes);
  // The copy of a value that a step reads: values are followed by their repetitions.
  int Read(int value, int step, bool is_repetition) const;

  std::vector<Step> steps_;
  std::vector<Value> values_;
  std::map<Output, int> number_of_;
  std::map<Output, Output> root_of_;  // of aliases
  std::map<NodeId, std::vector<int>> writers_;

  // What the last question led to; kept to save allocations.
  std::vector<int> repeated_before_;
  std::vector<std::pair<int, bool>> sequence_;  // step, whether it is a repetition
  std::vector<int> first_, last_, owner_;       // by value, then by repetition of value; owner_: whose bytes it takes
  std::vector<char> outside_;                   // by owner: not in the arena
  std::vector<int64_t> change_;
};

}  // namespace muster
