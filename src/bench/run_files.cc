#include "bench/run_files.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/output_flags.h"
#include "muster/graph_export.h"

namespace muster::bench {
namespace {

constexpr int64_t kProfiledSteps = 10;
constexpr int kPrintedOperations = 20;

bool IsSet(const std::optional<std::string>& file) { return file && !file->empty(); }

// As the peer decides it.
bool IsText(const std::string& file) { return file.ends_with("txt"); }
const char* FormName(const std::string& file) { return IsText(file) ? "text" : "binary"; }

}  // namespace

bool NeedsPartitionGraphs(const BenchParams& params) {
  return IsSet(params.partitioned_graph_file_prefix) || IsSet(params.tfprof_file);
}

std::string PartitionFile(const std::string& prefix, const std::string& device) {
  const size_t slash = prefix.rfind('/'), dot = prefix.rfind('.');
  const bool has_extension = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  const size_t base = has_extension ? dot : prefix.size();
  std::string name = device;
  for (char& c : name)
    if (c == '/' || c == ':') c = '_';
  return prefix.substr(0, base) + name + prefix.substr(base);
}

void RunFiles::Check(const BenchParams& params) {
  if (!params.trace_file.empty()) CheckFileFlag("trace_file", params.trace_file);
  if (params.graph_file) CheckFileFlag("graph_file", *params.graph_file);
  if (IsSet(params.partitioned_graph_file_prefix))
    CheckFileFlag("partitioned_graph_file_prefix", *params.partitioned_graph_file_prefix);
  if (IsSet(params.tfprof_file)) CheckFileFlag("tfprof_file", *params.tfprof_file);
}

void RunFiles::WriteGraph(StepRunner& runner) const {
  if (!IsSet(params_.graph_file)) return;
  console_.Print(fmt::format("Writing GraphDef as {} to {}", FormName(*params_.graph_file), *params_.graph_file));
  WriteFileAtomically(*params_.graph_file, runner.GraphDef(IsText(*params_.graph_file)));
}

void RunFiles::NoteShortWarmUp(int64_t warmup_batches) const {
  if (warmup_batches >= 2) return;
  if (!params_.trace_file.empty())
    console_.Note(
        "no trace is written: it is taken in the last warm-up step but one, so --num_warmup_batches must be at least "
        "2");
  if (IsSet(params_.partitioned_graph_file_prefix))
    console_.Note(
        "no graphs of devices are written: that is done in the last warm-up step but one, so --num_warmup_batches must "
        "be at least 2");
}

// The first steps are not typical, and timed ones must not be disturbed.
void RunFiles::AfterLastWarmUpButOne(StepRunner& runner, const Timeline& timeline) const {
  if (!params_.trace_file.empty()) WriteTrace(timeline);
  if (IsSet(params_.partitioned_graph_file_prefix)) WritePartitionGraphs(runner);
}

void RunFiles::WriteTrace(const Timeline& timeline) const {
  console_.Print("Dumping trace to " + params_.trace_file);
  WriteFileAtomically(params_.trace_file,
                      params_.use_chrome_trace_format ? ChromeTrace(timeline) : StepStatsText(timeline));
}

void RunFiles::WritePartitionGraphs(StepRunner& runner) const {
  const std::string& prefix = *params_.partitioned_graph_file_prefix;
  for (const Graph& graph : runner.PartitionGraphs()) {
    const std::string file = PartitionFile(prefix, graph.node(0).device.ToString());
    console_.Print(fmt::format("Writing partitioned GraphDef as {} to {}", FormName(prefix), file));
    WriteFileAtomically(file, IsText(prefix) ? GraphToGraphDefText(graph) : GraphToGraphDef(graph));
  }
}

bool RunFiles::Profiles(int64_t index) const { return IsSet(params_.tfprof_file) && index < kProfiledSteps; }

void RunFiles::AddToProfile(StepRunner& runner, int64_t index, const Timeline& timeline) {
  if (!profile_) profile_.emplace(runner.PartitionGraphs());
  profile_->AddStep(index, timeline);
}

void RunFiles::WriteProfile() const {
  if (!profile_) return;
  console_.Print("Dumping ProfileProto to " + *params_.tfprof_file);
  WriteFileAtomically(*params_.tfprof_file, profile_->ToProfileProto());
  console_.Print(profile_->OperationTable(kPrintedOperations));
}

}  // namespace muster::bench
