// The zoo against the public program's own table, golden/models.json: names, order, shapes and first values of
// variables, layer counts, multiply-adds, sizes and rates.

#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "graph/flops.h"
#include "muster/error.h"
#include "muster/models.h"
#include "muster/session.h"
#include "tests/testing/golden.h"

namespace muster {
namespace {

using nlohmann::json;
using testing::GoldenJson;

// Rows of the table that are no image classifiers.
bool IsPromised(const json& row) { return row["dataset"] != "librispeech"; }

// What a model's graphs with one image hold.
struct Built {
  Graph graph;
  Tower training, evaluation;
};

std::unique_ptr<Built> Build(const Model& model, DataFormat format, int64_t batch = 1) {
  auto built = std::make_unique<Built>();
  Scope scope(&built->graph);
  const Output images = ops::Placeholder(scope, DType::kFloat32, {batch, model.image_size, model.image_size, 3});
  const Output labels = ops::Placeholder(scope, DType::kInt32, {batch});
  TowerOptions options;
  options.layers.data_format = format;
  built->training = BuildTrainingTower(scope, model, images, labels, options);
  options.layers.reuse = Reuse::kAlways;
  built->evaluation = BuildEvaluationTower(scope.WithName("eval"), model, images, labels, options);
  return built;
}

std::map<std::string, int> CountLayers(const Graph& graph, Output logits) {
  const std::map<OpKind, std::string> names{
      {OpKind::kConv2D, "conv"},      {OpKind::kDepthwiseConv2dNative, "depthwise_conv"},
      {OpKind::kMatMul, "dense"},     {OpKind::kFusedBatchNorm, "batch_norm"},
      {OpKind::kMaxPool, "max_pool"}, {OpKind::kAvgPool, "avg_pool"},
      {OpKind::kLRN, "lrn"},          {OpKind::kConcat, "concat"},
      {OpKind::kRelu, "relu"},        {OpKind::kRelu6, "relu"},
      {OpKind::kBiasAdd, "bias_add"}};
  std::map<std::string, int> counts;
  for (const auto& [kind, name] : names) counts[name] = 0;
  for (NodeId id : Ancestors(graph, {logits.node}))
    if (auto it = names.find(graph.node(id).kind); it != names.end()) ++counts[it->second];
  return counts;
}

// TensorFlow's default for variables, which the table calls unknown: uniform within sqrt(6 / (fan in + fan out)).
void ExpectGlorotUniform(const Graph& graph, const VariableInfo& info, const Node& last) {
  const initializers::Fans fans = initializers::ComputeFans(graph.shape(info.ref));
  const double limit = std::sqrt(6 / (fans.in + fans.out));
  ASSERT_EQ(last.kind, OpKind::kAdd) << info.name;
  const Node& scaled = graph.node(last.inputs[0].node);
  ASSERT_EQ(scaled.kind, OpKind::kMul) << info.name;
  EXPECT_EQ(graph.node(scaled.inputs[0].node).kind, OpKind::kRandomUniform) << info.name;
  const auto constant = [&](Output x) { return graph.node(x.node).attr<ConstAttrs>().value.scalar<float>(); };
  EXPECT_NEAR(constant(scaled.inputs[1]), 2 * limit, 1e-6 * limit) << info.name;
  EXPECT_NEAR(constant(last.inputs[1]), -limit, 1e-6 * limit) << info.name;
}

// The distribution that an initialiser's operations draw from, as the table writes it.
void ExpectInitializer(const Graph& graph, const VariableInfo& info, const json& init) {
  Output value = graph.node(info.initializer).inputs[1];
  const Node& last = graph.node(value.node);
  if (init["kind"] == "constant") {
    ASSERT_EQ(last.kind, OpKind::kFill) << info.name;
    EXPECT_FLOAT_EQ(static_cast<float>(last.attr<FillAttrs>().value), init["value"].get<float>()) << info.name;
    return;
  }
  if (init["kind"] == "unknown") return ExpectGlorotUniform(graph, info, last);
  ASSERT_EQ(init["kind"], "truncated_normal") << info.name;
  ASSERT_EQ(init["mean"], 0.0);
  ASSERT_EQ(last.kind, OpKind::kMul) << info.name;
  EXPECT_EQ(graph.node(last.inputs[0].node).kind, OpKind::kTruncatedNormal) << info.name;
  const float stddev = graph.node(last.inputs[1].node).attr<ConstAttrs>().value.scalar<float>();
  EXPECT_NEAR(stddev, init["stddev"].get<double>(), 1e-6 * stddev) << info.name;
}

int64_t ExpectVariables(const Graph& graph, const json& expected, bool trainable) {
  std::vector<const VariableInfo*> infos;
  for (const VariableInfo& info : graph.variables())
    if (info.trainable == trainable && info.name != "global_step") infos.push_back(&info);
  EXPECT_EQ(infos.size(), expected.size());
  int64_t total = 0;
  for (size_t i = 0; i < std::min(infos.size(), expected.size()); ++i) {
    const std::vector<int64_t> dims = expected[i]["shape"];
    EXPECT_EQ(infos[i]->name, expected[i]["name"]);
    EXPECT_EQ(graph.shape(infos[i]->ref), Shape(std::span<const int64_t>(dims))) << infos[i]->name;
    if (trainable) {
      EXPECT_EQ(HasWeightDecay(infos[i]->name), expected[i]["weight_decay"].get<bool>()) << infos[i]->name;
    }
    ExpectInitializer(graph, *infos[i], expected[i]["init"]);
    total += graph.shape(infos[i]->ref).num_elements();
  }
  return total;
}

void ExpectArithmetic(const Built& built, const json& expected) {
  const Graph& graph = built.graph;
  std::map<std::string, int64_t> macs;
  int64_t float_ops = 0;
  for (NodeId id : Ancestors(graph, {built.evaluation.logits.node})) {
    const int64_t count = MultiplyAdds(graph, graph.node(id));
    if (count > 0) macs[std::string(OpName(graph.node(id).kind))] += count;
    float_ops += FloatOps(graph, graph.node(id));
  }
  EXPECT_EQ(macs, (expected["forward_macs_per_image"].get<std::map<std::string, int64_t>>()));
  EXPECT_EQ(float_ops, expected["profiler_float_ops_forward_batch1"].get<int64_t>());
}

void ExpectFacts(const Model& model, const json& expected) {
  EXPECT_EQ(model.printed_name, expected["printed_name"]);
  EXPECT_EQ(model.image_size, expected["image_size"]);
  // The public program's coco model has no batch size of its own.
  if (model.dataset != "coco") {
    EXPECT_EQ(model.default_batch_size, expected["default_batch_size"]);
  }
  EXPECT_EQ(model.learning_rate, expected["learning_rate_attribute"]);
  EXPECT_EQ(model.fp16_loss_scale, expected["fp16_loss_scale"]);
  const DatasetInfo& dataset = FindDataset(model.dataset);
  EXPECT_EQ(dataset.num_classes, expected["num_classes"]);
  EXPECT_EQ(dataset.train_images, expected["train_images"]);
  EXPECT_EQ(dataset.validation_images, expected["validation_images"]);
  EXPECT_EQ(static_cast<bool>(model.schedule), expected["learning_rate_is_schedule"].get<bool>());
  if (!model.schedule) return;
  const double images_per_step = expected["learning_rate_samples_images_per_step"];
  const Schedule schedule = model.DefaultSchedule({images_per_step, dataset.train_images});
  for (const auto& sample : expected["learning_rate_samples"]) {
    const double rate = sample[1];
    EXPECT_NEAR(RateAt(schedule, sample[0]), rate, 1e-6 * rate) << "at step " << sample[0];
  }
}

void ExpectModel(const Model& model, DataFormat format, const json& expected) {
  const auto built = Build(model, format);
  EXPECT_EQ(ExpectVariables(built->graph, expected["trainable_variables"], true), expected["trainable_parameters"]);
  EXPECT_EQ(ExpectVariables(built->graph, expected["other_variables"], false), expected["other_values"]);
  EXPECT_EQ(CountLayers(built->graph, built->training.logits),
            (expected["layer_counts"].get<std::map<std::string, int>>()));
  const std::vector<int64_t> logits = expected["logits_shape_batch1"];
  EXPECT_EQ(built->graph.shape(built->evaluation.logits), Shape(std::span<const int64_t>(logits)));
  ExpectArithmetic(*built, expected);
}

TEST(GoldenModels, EveryImageClassifierIsThePublicProgramsInBothDataFormats) {
  const json table = GoldenJson("models.json");
  int checked = 0;
  for (const json& expected : table["models"]) {
    if (!IsPromised(expected)) continue;
    SCOPED_TRACE(expected["dataset"].get<std::string>() + " " + expected["model"].get<std::string>());
    const Model& model = FindModel(expected["model"].get<std::string>(), expected["dataset"].get<std::string>());
    ExpectFacts(model, expected);
    for (DataFormat format : {DataFormat::kNHWC, DataFormat::kNCHW}) ExpectModel(model, format, expected);
    ++checked;
  }
  EXPECT_EQ(checked, 49);
}

TEST(Models, EveryTableRowIsBuiltAndEveryVariableGetsAGradient) {
  for (const Model& model : Models()) {
    Graph graph;
    Scope scope(&graph);
    const int channels = FindDataset(model.dataset).channels;
    const Output images = ops::Placeholder(scope, DType::kFloat32, {2, model.image_size, model.image_size, channels});
    const Output labels = ops::Placeholder(scope, DType::kInt32, {2});
    const Tower tower = BuildTrainingTower(scope, model, images, labels, {});
    ASSERT_EQ(tower.gradients.size(), tower.variables.size());
    for (size_t i = 0; i < tower.gradients.size(); ++i) {
      ASSERT_TRUE(tower.gradients[i].is_valid()) << model.name << " " << VariableName(graph, tower.variables[i]);
      EXPECT_EQ(graph.shape(tower.gradients[i]), graph.shape(tower.variables[i].ref));
    }
  }
}

TEST(Models, TheSmallCnnsHaveTwoConvolutionsAndTwoDenseLayers) {
  Graph graph;
  Scope scope(&graph);
  const Output images = ops::Placeholder(scope, DType::kFloat32, {4, 28, 28, 1});
  const Output labels = ops::Placeholder(scope, DType::kInt32, {4});
  const Tower tower = BuildTrainingTower(scope, FindModel("cnn_5x5", "fashion-mnist"), images, labels, {});
  std::vector<std::string> variables;
  for (const Variable& variable : tower.variables)
    variables.push_back(VariableName(graph, variable) + graph.shape(variable.ref).ToString());
  EXPECT_THAT(variables, ::testing::ElementsAre("cg/conv0/conv2d/kernel[5,5,1,32]", "cg/conv0/biases[32]",
                                                "cg/conv1/conv2d/kernel[5,5,32,64]", "cg/conv1/biases[64]",
                                                "cg/affine0/weights[3136,128]", "cg/affine0/biases[128]",
                                                "cg/affine1/weights[128,10]", "cg/affine1/biases[10]"));
}

TEST(Models, AnEvaluationGraphSharesTheVariablesAndUpdatesNothing) {
  const auto built = Build(FindModel("resnet20", "cifar10"), DataFormat::kNHWC);
  ASSERT_EQ(built->evaluation.variables.size(), built->training.variables.size());
  for (size_t i = 0; i < built->training.variables.size(); ++i)
    EXPECT_EQ(built->evaluation.variables[i].ref, built->training.variables[i].ref);
  EXPECT_EQ(built->training.update_ops.size(), 38u);  // mean and variance of 19 batch norms
  EXPECT_EQ(built->graph.update_ops(), built->training.update_ops);
  EXPECT_TRUE(built->evaluation.update_ops.empty());
}

TEST(Models, AnUnknownNameIsRefusedWithTheKnownOnes) {
  try {
    FindModel("resnet51", "imagenet");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    EXPECT_THAT(error.what(), ::testing::StartsWith("Invalid model name 'resnet51' for dataset 'imagenet'"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("resnet50, resnet50_v1.5"));
  }
}

TEST(Models, ADatasetIsKnownByEachOfItsNames) {
  EXPECT_EQ(&FindModel("resnet50", "synthetic"), &FindModel("resnet50", "imagenet"));
  EXPECT_EQ(&FindModel("cnn", "idx:/data"), &FindModel("cnn", "mnist"));
  EXPECT_THROW(FindDataset("imagnet"), Error);
}

Model OwnModel(std::string name) {
  Model model{std::move(name), "mnist"};
  model.image_size = 28;
  model.default_batch_size = 16;
  model.layers = [](ModelBuilder& b, Output x) { return b.Affine(b.Flatten(x), 8); };
  return model;
}

Code CodeOfRegistering(Model model) {
  try {
    RegisterModel(std::move(model));
    return Code::kOk;
  } catch (const Error& error) {
    return error.code();
  }
}

TEST(Models, ARegisteredModelIsFoundAndOthersStayWhereTheyAre) {
  const Model* resnet = &FindModel("resnet50", "imagenet");
  Model model = OwnModel("models_test_own");
  model.dataset = "fashion-mnist";
  RegisterModel(model);
  EXPECT_EQ(&FindModel("resnet50", "imagenet"), resnet);
  EXPECT_EQ(FindModel("models_test_own", "mnist").printed_name, "models_test_own");
  EXPECT_THAT(ModelNames("mnist"), ::testing::Contains("models_test_own"));
}

TEST(Models, WhatCannotBeBuiltOrFoundIsNotRegistered) {
  EXPECT_EQ(CodeOfRegistering(OwnModel("lenet")), Code::kAlreadyExists);
  EXPECT_EQ(CodeOfRegistering(OwnModel("")), Code::kInvalidArgument);
  for (auto spoil : {+[](Model& m) { m.dataset = "birds"; }, +[](Model& m) { m.layers = nullptr; },
                     +[](Model& m) { m.image_size = 0; }, +[](Model& m) { m.default_batch_size = 0; }}) {
    Model model = OwnModel("models_test_spoilt");
    spoil(model);
    EXPECT_EQ(CodeOfRegistering(model), Code::kInvalidArgument);
  }
}

// The last subtraction in the graph: what nasnet keeps of the paths of its last cell.
Output KeepProbability(const Graph& graph) {
  for (NodeId id = graph.num_nodes() - 1; id >= 0; --id)
    if (graph.node(id).kind == OpKind::kSub && graph.node(id).name.find("keep_prob") != std::string::npos)
      return {id, 0};
  return {};
}

void BuildNasnet(Graph* graph, bool dropout) {
  Scope scope(graph);
  ModelBuilder builder(scope, {.dropout = dropout});
  BuildLogits(builder, FindModel("nasnet", "cifar10"), ops::Placeholder(scope, DType::kFloat32, {2, 32, 32, 3}), 11);
}

TEST(Models, NasnetKeepsLessOfTheLastCellsPathsWithTimeDownToItsShare) {
  Graph graph;
  BuildNasnet(&graph, true);
  const Variable step = GlobalStep(Scope(&graph));
  Session session(&graph);
  session.Initialize();
  for (const auto& [at, kept] : {std::pair<int64_t, float>{0, 1.0F}, {468750, 0.8F}, {937500, 0.6F}, {2000000, 0.6F}}) {
    session.WriteVariable(step.ref, Tensor::Of<int64_t>({}, std::vector<int64_t>{at}));
    EXPECT_FLOAT_EQ(session.Run({}, {KeepProbability(graph)})[0].scalar<float>(), kept) << "at step " << at;
  }
}

TEST(Models, NasnetWithoutDropoutKnowsNoGlobalStep) {
  Graph graph;
  BuildNasnet(&graph, false);
  EXPECT_FALSE(KeepProbability(graph).is_valid());
  EXPECT_EQ(graph.Find("global_step"), kNoNode);
}

TEST(Models, OneMachineSeveralTowersMakeTheRateOfASummedGradientSmaller) {
  const Model& model = FindModel("resnet50", "imagenet");
  const RateContext averaged{2048, 1281167, 1, 0}, summed{2048, 1281167, 8, 0};
  EXPECT_NEAR(RateAt(model.DefaultSchedule(averaged), 10000), 8 * RateAt(model.DefaultSchedule(summed), 10000), 1e-6);
}

}  // namespace
}  // namespace muster
