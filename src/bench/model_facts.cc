#include "bench/model_facts.h"

#include <fmt/format.h>

#include "muster/error.h"

namespace muster::bench {
namespace {

using Kind = ModelRate::Kind;

constexpr bool kBuilt = true;
constexpr bool kLater = false;

class Table {
 public:
  explicit Table(std::string dataset) : dataset_(std::move(dataset)) {}

  Table& Add(std::string name, int64_t batch, ModelRate rate, bool built, std::string printed = "") {
    if (printed.empty()) printed = name;
    models_.push_back({std::move(name), dataset_, std::move(printed), batch, rate, built});
    return *this;
  }
  const std::vector<ModelFacts>& models() const { return models_; }

 private:
  std::string dataset_;
  std::vector<ModelFacts> models_;
};

ModelRate Constant(double rate) { return {Kind::kConstant, rate, 0}; }

Table ImagenetModels() {
  const ModelRate plain = Constant(0.005);
  const ModelRate resnet{Kind::kResnet, 0.128, 256};
  Table table("imagenet");
  table.Add("trivial", 32, plain, kBuilt)
      .Add("lenet", 32, plain, kBuilt, "lenet5")
      .Add("alexnet", 512, plain, kBuilt)
      .Add("overfeat", 32, plain, kLater)
      .Add("vgg11", 64, plain, kBuilt)
      .Add("vgg16", 64, plain, kBuilt)
      .Add("vgg19", 64, plain, kBuilt)
      .Add("googlenet", 32, plain, kBuilt)
      .Add("inception3", 32, plain, kBuilt)
      .Add("inception4", 32, plain, kBuilt)
      .Add("resnet50", 64, resnet, kBuilt)
      .Add("resnet50_v1.5", 64, resnet, kBuilt)
      .Add("resnet50_v2", 64, resnet, kBuilt)
      .Add("resnet101", 32, resnet, kBuilt)
      .Add("resnet101_v2", 32, resnet, kBuilt)
      .Add("resnet152", 32, resnet, kBuilt)
      .Add("resnet152_v2", 32, resnet, kBuilt)
      .Add("mobilenet", 32, plain, kLater)
      .Add("nasnet", 32, plain, kLater)
      .Add("nasnetlarge", 16, plain, kLater, "nasnet")
      .Add("ncf", 2048, Constant(0.0005), kLater, "official_ncf");
  for (const int depth : {18, 34, 50, 101, 152, 200}) {
    const int64_t batch = depth == 50 ? 128 : 32;
    const ModelRate rate{Kind::kOfficialResnet, 0.0125 * static_cast<double>(batch) / 32, batch};
    const std::string name = fmt::format("official_resnet{}", depth),
                      printed = fmt::format("official_resnet_{}", depth);
    table.Add(name, batch, rate, kLater, printed + "_v1").Add(name + "_v2", batch, rate, kLater, printed + "_v2");
  }
  return table;
}

Table Cifar10Models() {
  Table table("cifar10");
  table.Add("trivial", 32, Constant(0.005), kBuilt)
      .Add("alexnet", 128, {Kind::kCifarAlexnet, 0.1, 0}, kBuilt)
      .Add("nasnet", 32, Constant(0.025), kLater);
  for (const int depth : {20, 32, 44, 56, 110}) {
    const std::string name = fmt::format("resnet{}", depth);
    const ModelRate rate{Kind::kCifarResnet, 0.1, 0};
    table.Add(name, 128, rate, kBuilt).Add(name + "_v2", 128, rate, kBuilt);
  }
  for (const char* name : {"densenet40_k12", "densenet100_k12", "densenet100_k24"}) {
    table.Add(name, 64, {Kind::kDensenet, 0.1, 0}, kLater);
  }
  return table;
}

std::string NamesFor(std::string_view dataset) {
  std::vector<std::string> names;
  for (const ModelFacts& model : AllModels()) {
    if (model.dataset == dataset && model.built) names.push_back(model.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

const std::vector<ModelFacts>& AllModels() {
  static const std::vector<ModelFacts> models = [] {
    Table coco("coco"), librispeech("librispeech");
    coco.Add("trivial", 0, Constant(0.005), kLater).Add("ssd300", 32, Constant(0.001), kLater);
    librispeech.Add("deepspeech2", 128, Constant(0.0005), kLater);
    std::vector<ModelFacts> all;
    for (const Table& table : {ImagenetModels(), Cifar10Models(), coco, librispeech}) {
      all.insert(all.end(), table.models().begin(), table.models().end());
    }
    return all;
  }();
  return models;
}

const std::vector<DatasetFacts>& AllDatasets() {
  static const std::vector<DatasetFacts> datasets = {
      {"cifar10", 50000, 10000}, {"coco", 118287, 4952}, {"imagenet", 1281167, 50000}, {"librispeech", 2, 2}};
  return datasets;
}

const DatasetFacts& FindDataset(std::string_view name) {
  std::vector<std::string> names;
  for (const DatasetFacts& dataset : AllDatasets()) {
    if (dataset.name == name) return dataset;
    names.push_back(dataset.name);
  }
  throw InvalidArgument(fmt::format("Unknown dataset '{}'. Must be one of {}", name, fmt::join(names, ", ")));
}

const ModelFacts& FindModel(std::string_view name, std::string_view dataset) {
  for (const ModelFacts& model : AllModels()) {
    if (model.name != name || model.dataset != dataset) continue;
    if (model.built) return model;
    throw Unimplemented(fmt::format("model '{}' for dataset '{}' is not in this version of Muster yet", name, dataset));
  }
  const std::string known = NamesFor(dataset);
  throw InvalidArgument(fmt::format("Invalid model name '{}' for dataset '{}'{}", name, dataset,
                                    known.empty() ? "" : ". Must be one of " + known));
}

}  // namespace muster::bench
