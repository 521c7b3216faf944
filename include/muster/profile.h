#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "muster/graph.h"
#include "muster/timeline.h"

namespace muster {

// Where the time of several steps goes, operation by operation: what tf.profiler.Profiler collects. For one thread.
class Profile {
 public:
  // "graphs": what each device computes (Runner::PartitionGraphs).
  explicit Profile(std::vector<Graph> graphs);

  // Adds one traced step (Runner::RunTraced of the same runner).
  void AddStep(int64_t step, const Timeline& timeline);
  int num_steps() const { return static_cast<int>(steps_.size()); }

  // TensorFlow's ProfileProto, which tfprof reads: every operation with its inputs, shapes, floating-point operations
  // and device, and when it ran in each step. Time on a GPU is accelerator time. Bytes are those of an operation's
  // outputs, since all memory is laid out beforehand; updates in place have none.
  std::string ToProfileProto() const;
  // A table of the "most" kinds of operations that took longest, in the manner of tfprof's "op" view: by accelerator
  // time, then by all time. Times and bytes are means over the steps; behind each the share of this and all later rows,
  // and of this one.
  std::string OperationTable(int most) const;

 private:
  struct Run {
    int64_t start = 0, micros = 0;
  };
  struct Operation {
    std::string name, op;
    int graph = 0;
    NodeId node = kNoNode;
    std::map<int64_t, std::vector<Run>> runs;  // by step
    int64_t float_ops = 0, output_bytes = 0;
  };

  bool IsAccelerator(const Operation& operation) const;

  std::vector<Graph> graphs_;
  std::vector<Operation> operations_;
  std::vector<std::vector<int>> operation_of_;                    // by graph and node
  std::map<std::pair<std::string, std::string>, int> by_device_;  // device and node name
  std::vector<int64_t> steps_;
};

}  // namespace muster
