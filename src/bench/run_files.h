#pragma once

#include <optional>
#include <string>

#include "bench/console.h"
#include "bench/step_runner.h"
#include "muster/profile.h"

namespace muster::bench {

// The files about the model and its steps that a run writes beside its result: --graph_file, --trace_file,
// --partitioned_graph_file_prefix and --tfprof_file, when and as tf_cnn_benchmarks writes them. Everything handed in
// must outlive it.
class RunFiles {
 public:
  RunFiles(const BenchParams& params, Console& console) : params_(params), console_(console) {}

  // Throws InvalidArgument if a file cannot be written where its flag says. Before anything runs.
  static void Check(const BenchParams& params);

  void WriteGraph(StepRunner& runner) const;
  // At the start of the warm-up: a note if it is too short for what is taken in its last step but one.
  void NoteShortWarmUp(int64_t warmup_batches) const;
  // Whether the last warm-up step but one has to be traced, and what is written behind it.
  bool TracesWarmUp() const { return !params_.trace_file.empty(); }
  void AfterLastWarmUpButOne(StepRunner& runner, const Timeline& timeline) const;
  // Whether the timed step number "index" (from 0) is profiled, and its timeline.
  bool Profiles(int64_t index) const;
  void AddToProfile(StepRunner& runner, int64_t index, const Timeline& timeline);
  // At the end of the run: the profile, if any step is in it, and its largest operations on the screen.
  void WriteProfile() const;

 private:
  void WriteTrace(const Timeline& timeline) const;
  void WritePartitionGraphs(StepRunner& runner) const;

  const BenchParams& params_;
  Console& console_;
  std::optional<Profile> profile_;
};

// Whether the flags ask for the graph of each device, so that the session must keep them.
bool NeedsPartitionGraphs(const BenchParams& params);

// The file of one device: "graph.txt" and "/job:localhost/replica:0/task:0/device:GPU:0" give
// "graph_job_localhost_replica_0_task_0_device_GPU_0.txt".
std::string PartitionFile(const std::string& prefix, const std::string& device);

}  // namespace muster::bench
