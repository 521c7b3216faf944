// Compiling costs the same for each step of a plan, however many towers there are: counted, not timed.

#include <gtest/gtest.h>

#include "bench/checks.h"
#include "bench/strategy.h"
#include "bench/train_graph.h"
#include "compile/pipeline.h"
#include "session/local_devices.h"

namespace muster::bench {
namespace {

struct Form {
  const char* name;
  void (*set)(BenchParams&);
};

constexpr Form kForms[] = {
    {"parameter_server", [](BenchParams&) {}},
    {"parameter_server on the CPU", [](BenchParams& p) { p.local_parameter_device = "cpu"; }},
    {"staged variables", [](BenchParams& p) { p.staged_vars = true; }},
    {"replicated", [](BenchParams& p) { p.variable_update = "replicated"; }},
    {"hierarchical copy", [](BenchParams& p) { p.variable_update = "replicated", p.hierarchical_copy = true; }},
    {"pscpu", [](BenchParams& p) { p.variable_update = "replicated", p.all_reduce_spec = "pscpu"; }},
    {"psgpu", [](BenchParams& p) { p.variable_update = "replicated", p.all_reduce_spec = "psgpu#2"; }},
    {"ring", [](BenchParams& p) { p.variable_update = "replicated", p.all_reduce_spec = "xring"; }},
    {"independent", [](BenchParams& p) { p.variable_update = "independent"; }},
};

// Of the training step and of the first values together, per step of the plans.
double WorkPerStep(const Form& form, int towers) {
  BenchParams params;
  params.device = "gpu";
  params.num_gpus = towers;
  params.batch_size = 1;
  params.model = "resnet20";
  params.data_name = "cifar10";
  params.optimizer = "momentum";
  form.set(params);
  CheckParams(params);
  OwnParams own;
  own.simulated_gpus = towers;
  const Derived derived = Derive(params);
  const auto built = BuildTrainGraph(params, own, derived, 1);
  SessionOptions options = DevicesOf(params, own, derived);
  options.backend = "reference";
  const std::vector<LocalDevice> devices = MakeLocalDevices(options);
  VariableTable table;
  CompileRequest request;
  request.graph = built->graph.get();
  for (const LocalDevice& d : devices)
    request.devices.push_back({d.device->name(), d.kernels, d.caps, d.device->is_asynchronous(), 0});
  request.variables = &table;
  request.own_task = devices[0].device->name().Task();
  CompileRequest first_values = request;
  for (const VariableInfo& variable : built->graph->variables()) first_values.targets.push_back(variable.initializer);
  request.feeds = {built->learning_rate};
  request.fetches = built->fetches;
  request.targets = built->targets;
  const Plan step = Compile(request), initial = Compile(first_values);
  return static_cast<double>(step.compile_work + initial.compile_work) /
         (step.stats.num_steps + initial.stats.num_steps);
}

}  // namespace

TEST(CompileWork, PerStepIsTheSameForManyTowersAsForFew) {
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.name);
    const double few = WorkPerStep(form, 4), many = WorkPerStep(form, 16);
    RecordProperty(form.name, std::to_string(few) + " and " + std::to_string(many));
    EXPECT_LT(many, 1.25 * few) << few << " for 4 towers, " << many << " for 16";
  }
}

}  // namespace muster::bench
