#include "muster/models.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/zoo.h"
#include "muster/error.h"

namespace muster {
namespace {

using Layers = std::function<Output(ModelBuilder&, Output)>;

Layers Vgg(const std::array<int, 5>& stages) {
  return [stages](ModelBuilder& b, Output x) { return zoo::Vgg(b, x, stages); };
}

Model ImageNet(std::string name, std::string printed_name, int image_size, int batch_size, Layers layers) {
  return {std::move(name), "imagenet", std::move(printed_name), image_size, batch_size, 0.005, 128, std::move(layers)};
}

Model Resnet(std::string name, int batch_size, const std::array<int, 4>& stages, zoo::ResnetVersion version) {
  Model model{name, "imagenet", name, 224, batch_size, 0.128, 128};
  model.layers = [=](ModelBuilder& b, Output x) { return zoo::Resnet(b, x, stages, version); };
  model.schedule = zoo::ResnetSchedule;
  return model;
}

Model ResnetCifar(std::string name, int blocks, zoo::ResnetVersion version) {
  Model model{name, "cifar10", name, 32, 128, 0.1, 128};
  model.layers = [=](ModelBuilder& b, Output x) { return zoo::ResnetCifar(b, x, blocks, version); };
  model.schedule = zoo::ResnetCifarSchedule;
  return model;
}

std::vector<Model> MakeModels() {
  using enum zoo::ResnetVersion;
  return {
      ImageNet("alexnet", "alexnet", 227, 512, zoo::Alexnet),
      ImageNet("googlenet", "googlenet", 224, 32, zoo::Googlenet),
      ImageNet("inception3", "inception3", 299, 32, zoo::Inception3),
      ImageNet("inception4", "inception4", 299, 32, zoo::Inception4),
      ImageNet("lenet", "lenet5", 28, 32, zoo::Lenet),
      ImageNet("overfeat", "overfeat", 231, 32, zoo::Overfeat),
      Resnet("resnet101", 32, {3, 4, 23, 3}, kV1),
      Resnet("resnet101_v2", 32, {3, 4, 23, 3}, kV2),
      Resnet("resnet152", 32, {3, 8, 36, 3}, kV1),
      Resnet("resnet152_v2", 32, {3, 8, 36, 3}, kV2),
      Resnet("resnet50", 64, {3, 4, 6, 3}, kV1),
      Resnet("resnet50_v1.5", 64, {3, 4, 6, 3}, kV15),
      Resnet("resnet50_v2", 64, {3, 4, 6, 3}, kV2),
      ImageNet("trivial", "trivial", 227, 32, zoo::Trivial),
      ImageNet("vgg11", "vgg11", 224, 64, Vgg({1, 1, 2, 2, 2})),
      ImageNet("vgg16", "vgg16", 224, 64, Vgg({2, 2, 3, 3, 3})),
      ImageNet("vgg19", "vgg19", 224, 64, Vgg({2, 2, 4, 4, 4})),

      {"alexnet", "cifar10", "alexnet", 32, 128, 0.1, 128, zoo::AlexnetCifar, zoo::AlexnetCifarSchedule},
      ResnetCifar("resnet110", 18, kV1),
      ResnetCifar("resnet110_v2", 18, kV2),
      ResnetCifar("resnet20", 3, kV1),
      ResnetCifar("resnet20_v2", 3, kV2),
      ResnetCifar("resnet32", 5, kV1),
      ResnetCifar("resnet32_v2", 5, kV2),
      ResnetCifar("resnet44", 7, kV1),
      ResnetCifar("resnet44_v2", 7, kV2),
      ResnetCifar("resnet56", 9, kV1),
      ResnetCifar("resnet56_v2", 9, kV2),
      {"trivial", "cifar10", "trivial", 32, 32, 0.005, 128, zoo::Trivial},

      {"cnn", "mnist", "cnn", 28, 128, 0.004, 128, zoo::SmallCnn},
      {"cnn_5x5", "mnist", "cnn_5x5", 28, 128, 0.001, 128, zoo::SmallCnn5x5},
      {"lenet", "mnist", "lenet5", 28, 128, 0.01, 128, zoo::Lenet},
      {"trivial", "mnist", "trivial", 28, 128, 0.005, 128, zoo::Trivial},
  };
}

std::vector<DatasetInfo> MakeDatasets() {
  return {{"imagenet", 1001, 1281167, 50000, 3}, {"cifar10", 11, 50000, 10000, 3}, {"mnist", 10, 60000, 10000, 1}};
}

std::string_view CanonicalDataset(std::string_view name) {
  if (name == "synthetic") return "imagenet";
  if (name == "fashion-mnist" || name.starts_with("idx:")) return "mnist";
  return name;
}

}  // namespace

Schedule Model::DefaultSchedule(const RateContext& context) const {
  if (schedule) return schedule(*this, context);
  return {schedules::Constant{learning_rate}};
}

const std::vector<Model>& Models() {
  static const std::vector<Model> models = MakeModels();
  return models;
}

std::vector<std::string> ModelNames(std::string_view dataset) {
  const std::string& canonical = FindDataset(dataset).name;
  std::vector<std::string> names;
  for (const Model& model : Models())
    if (model.dataset == canonical) names.push_back(model.name);
  return names;
}

const Model& FindModel(std::string_view name, std::string_view dataset) {
  const std::string& canonical = FindDataset(dataset).name;
  for (const Model& model : Models())
    if (model.name == name && model.dataset == canonical) return model;
  throw InvalidArgument(fmt::format("Invalid model name '{}' for dataset '{}'; known are {}", name, dataset,
                                    fmt::join(ModelNames(dataset), ", ")));
}

const DatasetInfo& FindDataset(std::string_view name) {
  static const std::vector<DatasetInfo> datasets = MakeDatasets();
  for (const DatasetInfo& dataset : datasets)
    if (dataset.name == CanonicalDataset(name)) return dataset;
  throw InvalidArgument(
      fmt::format("Invalid dataset name '{}'; known are imagenet, synthetic, cifar10, mnist, fashion-mnist "
                  "and idx:FOLDER",
                  name));
}

}  // namespace muster
