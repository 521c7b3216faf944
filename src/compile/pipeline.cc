#include "compile/pipeline.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "compile/passes.h"
#include "muster/graph_export.h"

namespace muster {
namespace {

// Called after each pass, where an interrupt ends the compilation. Writes the graph as NN_name.txt when the user asked
// for it; every compilation gets its own folder plan_N.
class Dumper {
 public:
  explicit Dumper(const std::string& dir) {
    for (int n = 0; !dir.empty() && dir_.empty(); ++n) {
      const std::string candidate = fmt::format("{}/plan_{}", dir, n);
      if (!std::filesystem::exists(candidate)) CreateWritableFolder(dir_ = candidate);
    }
  }
  void operator()(const char* pass, const CompileGraph& graph) {
    ThrowIfInterrupted();
    if (!dir_.empty()) WriteFileAtomically(fmt::format("{}/{:02}_{}.txt", dir_, number_++, pass), graph.ToText());
  }
  // What is no pass's result: "text" makes it.
  template <typename Maker>
  void Text(const char* name, const Maker& text) {
    if (!dir_.empty()) WriteFileAtomically(fmt::format("{}/{:02}_{}.txt", dir_, number_++, name), text());
  }

 private:
  std::string dir_;
  int number_ = 0;
};

}  // namespace

Plan Compile(const CompileRequest& request) {
  Dumper dump(request.dump_passes_dir);
  request.variables->Update(*request.graph);
  dump.Text("graph", [&] { return GraphToText(*request.graph); });
  CompileGraph graph(*request.graph, request.feeds, request.fetches, request.targets);
  dump("prune", graph);
  PlaceNodes(graph, request);
  dump("place", graph);
  JoinCollectives(graph);
  dump("join_collectives", graph);
  ForwardIdentities(graph);
  dump("forward_identities", graph);
  ConvertToNHWC(graph);
  dump("data_format", graph);
  if (request.optimize) {
    FoldConstants(graph, request);
    dump("fold_constants", graph);
    ShareCommonSubexpressions(graph);
    dump("common_subexpressions", graph);
    FuseBias(graph, request);
    dump("fuse_bias", graph);
    FuseBatchNorm(graph, request);
    dump("fuse_batch_norm", graph);
    FuseMaxPool(graph, request);
    dump("fuse_max_pool", graph);
    FuseWeightDecay(graph);
    dump("fuse_weight_decay", graph);
    KeepGradientPrecision(graph);
    dump("keep_gradient_precision", graph);
    FuseGradientUpdate(graph, request);
    dump("fuse_gradient_update", graph);
  }
  ScheduleExchange(graph);
  dump("schedule_exchange", graph);
  std::vector<ChannelSpec> channels = Partitioning(graph);
  dump("partition", graph);
  ChooseLayouts(graph, request);
  dump("layout", graph);
  OrderUpdates(graph);
  dump("order_updates", graph);
  HoldUpdates(graph, request);
  dump("hold_updates", graph);
  Plan plan = request.recompute != Recompute::kNone && request.use_arena ? LowerToFit(graph, channels, request)
                                                                         : Lower(graph, std::move(channels), request);
  if (plan.stats.num_recomputed > 0) dump("recompute", graph);
  if (request.keep_graphs) plan.graphs = PartitionGraphs(graph, request);
  if (request.optimize && request.use_arena) CoalesceUpdates(plan, request);
  AssignStreams(plan, request);
  plan.compile_work += graph.work();
  CountSteps(plan);
  dump.Text("plan", [&] { return PlanToText(plan); });
  return plan;
}

}  // namespace muster
