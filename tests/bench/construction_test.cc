// Every model of the zoo on two devices, in every mode: which variables there are and where they live.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/checks.h"
#include "bench/later.h"
#include "bench/param_table.h"
#include "bench/train_graph.h"
#include "muster/graph_export.h"
#include "tests/testing/golden.h"

namespace muster::bench {
namespace {

BenchParams ParamsOf(const std::string& model, const std::string& dataset) {
  BenchParams params;
  params.device = "gpu";
  params.num_gpus = 2;
  params.batch_size = 2;
  params.model = model;
  params.data_name = dataset;
  params.optimizer = "momentum";
  return params;
}

std::unique_ptr<TrainGraph> Build(const BenchParams& params) {
  CheckParams(params);
  return BuildTrainGraph(params, {}, Derive(params), params.batch_size);
}

void SetFlag(BenchParams* params, const std::string& name, const std::string& value) {
  for (const ParamField& field : BenchParamTable().fields())
    if (field.spec.name == name) SetParam(*params, field, ParseFlagValue(field.spec, value));
}

std::string DeviceOf(const Graph& graph, const VariableInfo& variable) {
  const Node& node = graph.node(variable.ref.node);
  // A slot lives beside its variable.
  if (!node.colocate_with.empty()) return DeviceOf(graph, *graph.FindVariable(graph.Find(node.colocate_with[0])));
  return node.device.ToString();
}

// Names of the model's variables by device; "v0/cg/x" and "v1/cg/x" are the same name.
std::map<std::string, std::vector<std::string>> ModelVariables(const Graph& graph) {
  std::map<std::string, std::vector<std::string>> by_device;
  for (const VariableInfo& variable : graph.variables()) {
    if (variable.name == "global_step") {
      EXPECT_EQ(DeviceOf(graph, variable), "/device:CPU:0");
    }
    if (variable.name[0] != 'v') continue;
    EXPECT_EQ(graph.dtype(variable.ref), DType::kFloat32) << variable.name;
    by_device[DeviceOf(graph, variable)].push_back(variable.name.substr(variable.name.find('/')));
  }
  return by_device;
}

int64_t ElementsOn(const Graph& graph, const std::string& device, int64_t* largest) {
  int64_t elements = 0;
  for (const VariableInfo& variable : graph.variables()) {
    if (!variable.name.starts_with("v/") || DeviceOf(graph, variable) != device || variable.name.ends_with("/Momentum"))
      continue;
    elements += graph.shape(variable.ref).num_elements();
    *largest = std::max(*largest, graph.shape(variable.ref).num_elements());
  }
  return elements;
}

void ExpectSharedVariables(BenchParams params) {
  params.local_parameter_device = "cpu";
  const auto on_cpu = ModelVariables(*Build(params)->graph);
  ASSERT_EQ(on_cpu.size(), 1u);
  EXPECT_EQ(on_cpu.begin()->first, "/device:CPU:0");
  params.local_parameter_device = "gpu";
  const auto spread = Build(params);
  EXPECT_EQ(ModelVariables(*spread->graph).size(), 2u);
  int64_t largest = 0;
  const int64_t first = ElementsOn(*spread->graph, "/device:GPU:0", &largest),
                second = ElementsOn(*spread->graph, "/device:GPU:1", &largest);
  EXPECT_LE(std::abs(first - second), largest);
  params.staged_vars = true;
  const auto staged = Build(params);
  EXPECT_FALSE(staged->prefill.empty());
  EXPECT_EQ(ModelVariables(*staged->graph), ModelVariables(*spread->graph)) << "staged copies are not the model's";
}

void ExpectCopies(BenchParams params) {
  for (const auto& [mode, spec] :
       {std::pair("replicated", ""), std::pair("independent", ""), std::pair("distributed_all_reduce", "psgpu#2"),
        std::pair("collective_all_reduce", "collective")}) {
    params.variable_update = mode;
    params.all_reduce_spec = spec;
    const auto by_device = ModelVariables(*Build(params)->graph);
    ASSERT_EQ(by_device.size(), 2u) << mode;
    EXPECT_GT(by_device.at("/device:GPU:0").size(), 1u);
    EXPECT_EQ(by_device.at("/device:GPU:0"), by_device.at("/device:GPU:1")) << mode;
  }
}

void ExpectModel(const std::string& model, const std::string& dataset) {
  SCOPED_TRACE(model + " on " + dataset);
  ExpectSharedVariables(ParamsOf(model, dataset));
  ExpectCopies(ParamsOf(model, dataset));
}

TEST(Construction, VariablesOfTwoTowersLiveWhereTheModeSays) {
  for (const char* model : {"trivial", "lenet", "alexnet", "vgg11", "googlenet", "resnet50"})
    ExpectModel(model, "imagenet");
  for (const char* model : {"alexnet", "resnet20", "resnet20_v2"}) ExpectModel(model, "cifar10");
}

TEST(SlowConstruction, VariablesOfEveryModelLiveWhereTheModeSays) {
  for (const Model& model : Models())
    if (model.dataset != "mnist") ExpectModel(model.name, model.dataset);
}

// Weights in half precision; batch norm, the loss scale and the global step never are.
void ExpectHalfVariables(BenchParams params) {
  params.use_fp16 = params.fp16_vars = true;
  params.fp16_enable_auto_loss_scale =
      params.variable_update == "parameter_server" || params.variable_update == "replicated";
  const auto built = Build(params);
  const Graph& graph = *built->graph;
  int halves = 0;
  for (const VariableInfo& variable : graph.variables()) {
    const std::string& name = variable.name;
    const bool is_normal = name.find("batchnorm") != std::string::npos;
    if (name == "loss_scale") {
      EXPECT_EQ(DeviceOf(graph, variable), "/device:CPU:0");
    }
    if (name[0] != 'v') continue;
    EXPECT_EQ(graph.dtype(variable.ref), is_normal ? DType::kFloat32 : DType::kFloat16) << name;
    halves += is_normal ? 0 : 1;
  }
  EXPECT_GT(halves, 0);
  EXPECT_NE(graph.Find("loss_scale"), kNoNode);
}

TEST(Construction, HalfPrecisionVariablesAreThoseOfWeightsInEveryMode) {
  for (const char* model : {"resnet20", "alexnet"})
    for (const auto& [mode, spec] :
         {std::pair("parameter_server", ""), std::pair("replicated", ""), std::pair("independent", ""),
          std::pair("distributed_all_reduce", "psgpu#2"), std::pair("collective_all_reduce", "collective")}) {
      SCOPED_TRACE(std::string(model) + " in " + mode);
      BenchParams params = ParamsOf(model, "cifar10");
      params.variable_update = mode;
      params.all_reduce_spec = spec;
      ExpectHalfVariables(params);
    }
}

// The powers of beta belong to the scope "append_apply_gradient_ops" in the peer's files.
std::string OursOf(const std::string& name) {
  const std::string scope = "append_apply_gradient_ops/";
  return name.starts_with(scope) ? name.substr(scope.size()) : name;
}

TEST(GoldenConstruction, CheckpointsKeepThePeersVariables) {
  const nlohmann::json golden = testing::GoldenJson("cnn_benchmarks/checkpoint_names.json");
  for (const std::string name : {"parameter_server", "replicated_2", "independent_2", "momentum", "adam", "rmsprop"}) {
    SCOPED_TRACE(name);
    BenchParams params = ParamsOf("resnet20", "cifar10");
    params.device = "cpu";
    params.num_gpus = name.ends_with("_2") ? 2 : 1;
    params.optimizer = name == "momentum" || name == "adam" || name == "rmsprop" ? name : "sgd";
    if (name.ends_with("_2")) params.variable_update = name.substr(0, name.size() - 2);
    std::set<std::string> expected, ours;
    for (const auto& variable : golden.at(name).at("variables")) {
      std::string shape;
      for (int64_t size : variable.at(2)) shape += " " + std::to_string(size);
      expected.insert(OursOf(variable.at(0)) + " " + variable.at(1).get<std::string>() + shape);
    }
    const auto built = Build(params);
    const VariableUpdate mode = name == "replicated_2"    ? VariableUpdate::kReplicated
                                : name == "independent_2" ? VariableUpdate::kIndependent
                                                          : VariableUpdate::kParameterServer;
    for (const Variable& variable : SavedVariables(*built->graph, mode)) {
      std::string shape;
      const Shape& dims = built->graph->shape(variable.ref);
      for (int i = 0; i < dims.rank(); ++i) shape += " " + std::to_string(dims[i]);
      ours.insert(VariableName(*built->graph, variable) + " " +
                  std::string(DTypeName(built->graph->dtype(variable.ref))) + shape);
    }
    EXPECT_EQ(ours, expected);
  }
}

// The graph of a request, as a number.
uint64_t GraphOf(const BenchParams& params) { return GraphFingerprint(*Build(params)->graph); }

// Whether a flag is in the note of those without effect.
bool IsSaidToBeWithoutEffect(const BenchParams& params, const std::string& flag) {
  return NoEffectNote(params).find("--" + flag + " (") != std::string::npos;
}

TEST(Construction, AFlagOfTheExchangeThatIsSaidToBeWithoutEffectChangesNoGraph) {
  const std::vector<std::pair<std::string, std::string>> flags = {{"variable_consistency", "relaxed"},
                                                                  {"local_parameter_device", "cpu"},
                                                                  {"gradient_repacking", "2"},
                                                                  {"all_reduce_spec", "xring"},
                                                                  {"agg_small_grads_max_bytes", "1000"},
                                                                  {"agg_small_grads_max_group", "3"},
                                                                  {"gpu_indices", "1,0"},
                                                                  {"compact_gradient_transfer", "false"},
                                                                  {"hierarchical_copy", "true"}};
  int quiet = 0;
  for (const char* mode : {"parameter_server", "replicated", "independent"})
    for (const auto& setting : {std::pair("forward_only", "false"), std::pair("forward_only", "true"),
                                std::pair("hierarchical_copy", "true"), std::pair("all_reduce_spec", "psgpu")}) {
      BenchParams base = ParamsOf("trivial", "cifar10");
      base.variable_update = mode;
      base.gradient_repacking = 0;
      SetFlag(&base, setting.first, setting.second);
      const uint64_t wanted = GraphOf(base);
      for (const auto& [name, value] : flags) {
        BenchParams changed = base;
        SetFlag(&changed, name, value);
        if (!IsSaidToBeWithoutEffect(changed, name)) continue;
        ++quiet;
        EXPECT_EQ(GraphOf(changed), wanted) << name << " in " << mode << ", " << setting.first << "=" << setting.second;
      }
    }
  EXPECT_GT(quiet, 50);
}

}  // namespace
}  // namespace muster::bench
