#include "tests/models/model_steps.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <zlib.h>

#include "muster/error.h"
#include "muster/models.h"
#include "muster/ops/math.h"
#include "muster/optimizer.h"
#include "muster/session.h"
#include "tests/models/formula_weights.h"
#include "tests/testing/golden.h"

namespace muster::testing {
namespace {

using nlohmann::json;

constexpr uint64_t kOtherStreams = 16384, kImageStream = 32768;

const json& Table() {
  static const json table = GoldenJson("model_steps.json");
  return table;
}

const json* FindRow(const std::string& model, const std::string& dataset) {
  for (const auto& row : Table()["models"])
    if (row["model"] == model && row["dataset"] == dataset) return &row;
  return nullptr;
}

// The README's, relative.
struct Tolerances {
  double loss, logits, moving, norm, entry, floor;
};
constexpr Tolerances kFloat64{1e-8, 1e-8, 3e-7, 1e-8, 1e-8, 1e-12};
constexpr Tolerances kFloat32{5e-5, 1e-5, 1e-5, 1e-2, 3e-2, 1e-5};
// 8 and 11 significant bits in activations and in their gradients; weights, statistics, logits and sums have 24.
constexpr Tolerances kBFloat16{2e-2, 5e-2, 1e-2, 0.1, 0.3, 2e-2};
constexpr Tolerances kFloat16{3e-3, 1e-2, 2e-3, 3e-2, 0.1, 5e-3};

const Tolerances& TolerancesOf(DType dtype) {
  if (dtype == DType::kFloat64) return kFloat64;
  if (dtype == DType::kFloat32) return kFloat32;
  return dtype == DType::kFloat16 ? kFloat16 : kBFloat16;
}

// Of images and variables, where activations have half precision.
DType StorageOf(DType dtype) { return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32; }

Tensor ToTensor(const std::vector<float>& values, const Shape& shape, DType dtype) {
  if (dtype == DType::kFloat32) return Tensor::Of<float>(shape, std::span<const float>(values));
  const std::vector<double> wide(values.begin(), values.end());
  return Tensor::Of<double>(shape, std::span<const double>(wide));
}

std::vector<double> ToDoubles(const Tensor& tensor) {
  if (tensor.dtype() == DType::kFloat64) return {tensor.data<double>().begin(), tensor.data<double>().end()};
  return {tensor.data<float>().begin(), tensor.data<float>().end()};
}

double ToDouble(const Tensor& scalar) { return ToDoubles(scalar)[0]; }

double NormOf(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += v * v;
  return std::sqrt(sum);
}

double SumOf(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += v;
  return sum;
}

// In NCHW a dense layer behind an image sees its inputs as (c, h, w), and the file's weights are for (h, w, c): where
// row i of the file's weights goes. Empty: rows stay.
std::vector<int64_t> DenseRowOrder(const Graph& graph, const Node& variable, DataFormat format) {
  if (format != DataFormat::kNCHW) return {};
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    const Node& matmul = graph.node(id);
    if (matmul.kind != OpKind::kMatMul) continue;
    const Node& weights = graph.node(matmul.inputs[1].node);  // cast, where activations have half precision
    if ((weights.kind == OpKind::kCast ? weights.inputs[0].node : weights.id) != variable.id) continue;
    const Node& reshape = graph.node(matmul.inputs[0].node);
    if (reshape.kind != OpKind::kReshape) return {};
    const Shape& image = graph.shape(reshape.inputs[0]);
    if (image.rank() != 4) return {};
    const int64_t channels = image[1], height = image[2], width = image[3];
    std::vector<int64_t> order;
    for (int64_t h = 0; h < height; ++h)
      for (int64_t w = 0; w < width; ++w)
        for (int64_t c = 0; c < channels; ++c) order.push_back((c * height + h) * width + w);
    return order;
  }
  return {};
}

class ModelStepsRun {
 public:
  ModelStepsRun(const ModelStepsCase& c, const json& row)
      : case_(c), row_(row), model_(FindModel(c.model, c.dataset)), tolerances_(TolerancesOf(c.dtype)) {
    BuildGraph();
  }

  void Check() {
    const std::string backend = case_.dtype == DType::kFloat64 ? "reference" : "cpu";
    session_ = std::make_unique<Session>(&graph_, SessionOptions{.intra_op_threads = 1, .backend = backend});
    session_->Initialize();
    if (!LoadWeights()) return;
    CheckLogits(Fetch({evaluation_.logits})[0], "eval_logits");
    CheckFirstStep();
    const double second = ToDouble(Fetch({training_.base_loss}, {update_})[0]);
    ExpectRelative(second, row_["loss_after_step1"], tolerances_.loss, "loss after one step");
    const double third = ToDouble(Fetch({training_.base_loss})[0]);
    ExpectRelative(third, row_["loss_after_step2"], tolerances_.loss, "loss after two steps");
  }

 private:
  void BuildGraph() {
    Scope scope(&graph_);
    const int64_t batch = row_["batch"], size = row_["image_size"];
    images_ = ops::Placeholder(scope, StorageOf(case_.dtype), {batch, size, size, 3});
    labels_ = ops::Placeholder(scope, DType::kInt32, {batch});
    TowerOptions options;
    options.num_classes = row_["num_classes"];
    options.layers.dtype = case_.dtype;
    options.layers.data_format = case_.format;
    options.layers.dropout = false;
    training_ = BuildTrainingTower(scope, model_, images_, labels_, options);
    evaluation_ = BuildEvaluationTower(scope.WithName("eval"), model_, images_, labels_, options);
    l2_ = L2LossOfVariables(scope, training_.variables);
    std::vector<GradientAndVariable> pairs;
    for (size_t i = 0; i < training_.variables.size(); ++i)
      pairs.push_back({training_.gradients[i], training_.variables[i]});
    update_ = GradientDescentOptimizer(row_["rate"].get<double>())->ApplyGradients(scope, pairs);
  }

  std::vector<Tensor> Fetch(const std::vector<Output>& fetches, const std::vector<NodeId>& targets = {}) {
    return session_->Run({{images_, image_values_}, {labels_, label_values_}}, fetches, targets);
  }

  // Fills variables, images and labels; false if they are not what the file was computed from.
  bool LoadWeights() {
    std::vector<Variable> others;
    for (const VariableInfo& info : graph_.variables())
      if (!info.trainable) others.push_back({info.ref, info.initializer});
    uLong crc = crc32(0, nullptr, 0);
    const bool names_agree = LoadVariables(row_["trainable"], training_.variables, 0, &crc) &&
                             LoadVariables(row_["other"], others, kOtherStreams, &crc);
    if (!names_agree) return false;
    const Shape& shape = graph_.shape(images_);
    const auto values = FormulaValues(row_["seed"], kImageStream, 0, 1, shape.num_elements());
    AddToCrc(values, &crc);
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(values[i], row_["image0"][i].get<double>(), 1e-8);
    EXPECT_EQ(crc, row_["weights_crc32"].get<uLong>());
    image_values_ = ToTensor(values, shape, StorageOf(case_.dtype));
    const std::vector<int32_t> labels = row_["labels"];
    label_values_ = Tensor::Of<int32_t>({static_cast<int64_t>(labels.size())}, std::span<const int32_t>(labels));
    return !::testing::Test::HasFailure();
  }

  static void AddToCrc(const std::vector<float>& values, uLong* crc) {
    *crc = crc32_z(*crc, reinterpret_cast<const Bytef*>(values.data()), values.size() * sizeof(float));
  }

  bool LoadVariables(const json& rows, const std::vector<Variable>& variables, uint64_t first_stream, uLong* crc) {
    EXPECT_EQ(variables.size(), rows.size());
    if (variables.size() != rows.size()) return false;
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::string& name = VariableName(graph_, variables[i]);
      EXPECT_EQ(name, rows[i]["n"]);
      const Shape& shape = graph_.shape(variables[i].ref);
      std::vector<float> values =
          FormulaValues(row_["seed"], first_stream + i, rows[i]["b"], rows[i]["s"], shape.num_elements());
      AddToCrc(values, crc);
      row_order_[name] = DenseRowOrder(graph_, graph_.node(variables[i].ref.node), case_.format);
      session_->WriteVariable(variables[i].ref,
                              ToTensor(Reordered(values, row_order_[name]), shape, StorageOf(case_.dtype)));
    }
    return true;
  }

  // Rows of a dense kernel in the order that this data format sees.
  static std::vector<float> Reordered(const std::vector<float>& values, const std::vector<int64_t>& order) {
    if (order.empty()) return values;
    std::vector<float> result(values.size());
    const size_t width = values.size() / order.size();
    for (size_t i = 0; i < order.size(); ++i)
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                  result.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(order[i]) * width));
    return result;
  }

  void ExpectRelative(double actual, double expected, double tolerance, const std::string& what) const {
    EXPECT_NEAR(actual, expected, tolerance * std::abs(expected)) << what;
  }

  void CheckLogits(const Tensor& logits, const std::string& key) const {
    const std::vector<double> values = ToDoubles(logits);
    const double count = static_cast<double>(values.size()), squares = row_[key]["sum_of_squares"];
    const double tolerance = tolerances_.logits * std::sqrt(squares / count);
    const size_t classes = row_["num_classes"];
    for (size_t n = 0; n < row_[key]["first8"].size(); ++n)
      for (size_t i = 0; i < row_[key]["first8"][n].size(); ++i)
        EXPECT_NEAR(values[n * classes + i], row_[key]["first8"][n][i].get<double>(), tolerance)
            << key << " " << n << "," << i;
    EXPECT_NEAR(SumOf(values), row_[key]["sum"].get<double>(), tolerance * count) << key;
    ExpectRelative(std::pow(NormOf(values), 2), squares, 4 * tolerances_.logits, key + ", sum of squares");
  }

  void CheckFirstStep() {
    std::vector<Output> fetches{training_.logits, training_.base_loss, l2_};
    fetches.insert(fetches.end(), training_.gradients.begin(), training_.gradients.end());
    std::vector<NodeId> targets = training_.update_ops;
    targets.push_back(update_);
    const std::vector<Tensor> results = Fetch(fetches, targets);
    CheckLogits(results[0], "train_logits");
    ExpectRelative(ToDouble(results[1]), row_["loss"], tolerances_.loss, "loss");
    ExpectRelative(ToDouble(results[2]), row_["l2_half_sum"], tolerances_.loss, "sum of squares of weights");
    double squares = 0;
    for (size_t i = 0; i < training_.gradients.size(); ++i)
      squares += CheckGradient(results[i + 3], row_["trainable"][i]);
    EXPECT_LE(num_flipped_, training_.gradients.size() / 100) << "gradients outside the README's tolerance";
    ExpectRelative(std::sqrt(squares), row_["gradient_norm"], tolerances_.norm, "norm of all gradients");
    CheckMovingAverages();
  }

  // Returns the square of the gradient's norm.
  double CheckGradient(const Tensor& gradient, const json& expected) {
    const std::string name = expected["n"];
    const std::vector<double> values = ToDoubles(gradient);
    const double norm = NormOf(values), all = row_["gradient_norm"];
    if (expected.contains("zero")) {
      EXPECT_LT(norm, (IsHalf() ? tolerances_.floor : 1e-6) * all) << name << ": zero by theory";
      return norm * norm;
    }
    const double wanted = expected["g"][0];
    const double tolerance = ToleranceOf(norm, wanted, expected);
    EXPECT_NEAR(norm, wanted, tolerance * wanted + tolerances_.floor * all) << name << ", norm of the gradient";
    const double spread = std::sqrt(static_cast<double>(values.size()));
    EXPECT_NEAR(SumOf(values), expected["g"][1].get<double>(), spread * (tolerance * wanted + tolerances_.floor * all))
        << name << ", sum of the gradient";
    const double largest = std::abs(expected["gv"][0].get<double>());
    for (size_t i = 0; i < expected["gi"].size(); ++i)
      EXPECT_NEAR(values[IndexHere(name, expected["gi"][i], values.size())], expected["gv"][i].get<double>(),
                  tolerances_.entry * largest + tolerances_.floor * all)
          << name << "[" << expected["gi"][i] << "]";
    return norm * norm;
  }

  // The README's, but where a ReLU or max-pool decision flips in float32: there TensorFlow's own float32 gradient is
  // "d" away from its float64 one, and so may ours be. Such flips are rare; CheckTraining counts them.
  double ToleranceOf(double norm, double wanted, const json& expected) {
    const double floor = tolerances_.floor * row_["gradient_norm"].get<double>(), distance = expected.value("d", 0.0);
    if (case_.dtype != DType::kFloat32 || distance <= tolerances_.norm ||
        std::abs(norm - wanted) <= tolerances_.norm * wanted + floor)
      return tolerances_.norm;
    ++num_flipped_;
    return distance;
  }

  bool IsHalf() const { return muster::IsHalf(case_.dtype); }

  // Where element "index" of the file's variable is in this data format.
  size_t IndexHere(const std::string& name, size_t index, size_t count) const {
    const std::vector<int64_t>& order = row_order_.at(name);
    if (order.empty()) return index;
    const size_t width = count / order.size();
    return static_cast<size_t>(order[index / width]) * width + index % width;
  }

  void CheckMovingAverages() {
    size_t i = 0;
    for (const VariableInfo& info : graph_.variables()) {
      if (info.trainable) continue;
      const json& expected = row_["other"][i++];
      const std::vector<double> values = ToDoubles(session_->ReadVariable(info.ref));
      const double norm = expected["after"][1];
      const double spread = std::sqrt(static_cast<double>(values.size()));
      EXPECT_NEAR(SumOf(values), expected["after"][0].get<double>(), tolerances_.moving * norm * spread) << info.name;
      EXPECT_NEAR(NormOf(values), norm, tolerances_.moving * norm) << info.name;
    }
  }

  ModelStepsCase case_;
  const json& row_;
  size_t num_flipped_ = 0;  // gradients beyond the README's tolerance
  const Model& model_;
  Tolerances tolerances_;
  Graph graph_;
  Output images_, labels_, l2_;
  Tower training_, evaluation_;
  NodeId update_ = kNoNode;
  std::unique_ptr<Session> session_;
  Tensor image_values_, label_values_;
  std::map<std::string, std::vector<int64_t>> row_order_;
};

bool IsAnyOf(const std::string& model, std::initializer_list<const char*> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* prefix) { return model.rfind(prefix, 0) == 0; });
}

// Checks that take long: many multiply-adds, many operations, or weights that fill the memory. A data format changes
// nothing about the mathematics, so that the larger models run in NCHW and float64 only when asked; official_resnet50
// computes what resnet50_v1.5 does.
bool IsSlow(const ModelStepsCase& c) {
  if (c.dataset == "coco") return false;
  if (c.dataset == "cifar10" && IsAnyOf(c.model, {"densenet100"})) return true;
  const bool secondary = c.format == DataFormat::kNCHW && c.dtype == DType::kFloat64;
  if (c.model == "nasnet")
    return c.format == DataFormat::kNCHW || (c.dtype == DType::kFloat64 && c.dataset == "imagenet");
  if (c.dataset == "cifar10") return secondary && IsAnyOf(c.model, {"densenet"});
  if (IsAnyOf(c.model, {"vgg", "overfeat", "resnet101", "resnet152", "inception4", "nasnetlarge"})) return true;
  if (IsAnyOf(c.model, {"official"}) && !IsAnyOf(c.model, {"official_resnet18"})) return true;
  return secondary && !IsAnyOf(c.model, {"lenet", "trivial"});
}

}  // namespace

std::string ModelStepsCase::Name() const {
  std::string name = dataset + "_" + model + (format == DataFormat::kNCHW ? "_nchw_" : "_nhwc_") +
                     std::string(DTypeName(dtype)) + (dtype == DType::kFloat64 ? "_reference" : "_cpu");
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

std::vector<ModelStepsCase> ModelStepsCases(bool slow) {
  std::vector<ModelStepsCase> cases;
  for (const Model& model : Models()) {
    if (model.dataset == "mnist") continue;
    for (DataFormat format : {DataFormat::kNHWC, DataFormat::kNCHW})
      for (DType dtype : {DType::kFloat64, DType::kFloat32}) {
        const ModelStepsCase c{model.name, model.dataset, format, dtype};
        if (IsSlow(c) == slow) cases.push_back(c);
      }
  }
  return cases;
}

std::vector<std::string> ModelStepsRowsWithoutCase() {
  std::set<std::pair<std::string, std::string>> known;
  for (const Model& model : Models()) known.emplace(model.name, model.dataset);
  std::vector<std::string> rows;
  for (const auto& row : Table()["models"])
    if (known.erase({row["model"], row["dataset"]}) == 0)
      rows.push_back(row["model"].get<std::string>() + " on " + row["dataset"].get<std::string>());
  return rows;
}

std::vector<ModelStepsCase> HalfModelStepsCases(bool slow) {
  std::vector<ModelStepsCase> cases;
  for (const Model& model : Models()) {
    if (model.dataset == "mnist") continue;
    const ModelStepsCase c{model.name, model.dataset, DataFormat::kNHWC, DType::kBFloat16};
    if (IsSlow(c) == slow) cases.push_back(c);
  }
  if (slow) return cases;
  for (const char* model : {"trivial", "alexnet", "resnet20", "resnet20_v2", "densenet40_k12"})
    cases.push_back({model, "cifar10", DataFormat::kNHWC, DType::kFloat16});
  cases.push_back({"lenet", "imagenet", DataFormat::kNCHW, DType::kFloat16});
  return cases;
}

void CheckModelSteps(const ModelStepsCase& c) {
  const json* row = FindRow(c.model, c.dataset);
  ASSERT_NE(row, nullptr) << "model_steps.json has no row for " << c.model << " on " << c.dataset;
  ModelStepsRun(c, *row).Check();
}

}  // namespace muster::testing
