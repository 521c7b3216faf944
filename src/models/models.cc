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

Model OfficialResnet(int size, zoo::ResnetVersion version) {
  const bool v2 = version == zoo::ResnetVersion::kV2;
  Model model{fmt::format("official_resnet{}{}", size, v2 ? "_v2" : ""), "imagenet"};
  model.printed_name = fmt::format("official_resnet_{}_v{}", size, v2 ? 2 : 1);
  model.image_size = 224;
  model.default_batch_size = size == 50 ? 128 : 32;
  model.learning_rate = 0.0125 * model.default_batch_size / 32;
  model.schedule = zoo::OfficialResnetSchedule;
  model.network = [=](ModelBuilder& b, Output x, int num_classes) {
    return zoo::OfficialResnet(b, x, num_classes, size, version);
  };
  return model;
}

Model Densenet(std::string name, int layers_per_block, int64_t growth) {
  Model model{name, "cifar10", name, 32, 64, 0.1, 128};
  model.layers = [=](ModelBuilder& b, Output x) { return zoo::Densenet(b, x, layers_per_block, growth); };
  model.schedule = zoo::DensenetSchedule;
  return model;
}

std::deque<Model> MakeModels() {
  using enum zoo::ResnetVersion;
  return {
      ImageNet("alexnet", "alexnet", 227, 512, zoo::Alexnet),
      ImageNet("googlenet", "googlenet", 224, 32, zoo::Googlenet),
      ImageNet("inception3", "inception3", 299, 32, zoo::Inception3),
      ImageNet("inception4", "inception4", 299, 32, zoo::Inception4),
      ImageNet("lenet", "lenet5", 28, 32, zoo::Lenet),
      ImageNet("mobilenet", "mobilenet", 224, 32, zoo::Mobilenet),
      ImageNet("nasnet", "nasnet", 224, 32, zoo::NasnetMobile),
      ImageNet("nasnetlarge", "nasnet", 331, 16, zoo::NasnetLarge),
      OfficialResnet(18, kV1),
      OfficialResnet(18, kV2),
      OfficialResnet(34, kV1),
      OfficialResnet(34, kV2),
      OfficialResnet(50, kV1),
      OfficialResnet(50, kV2),
      OfficialResnet(101, kV1),
      OfficialResnet(101, kV2),
      OfficialResnet(152, kV1),
      OfficialResnet(152, kV2),
      OfficialResnet(200, kV1),
      OfficialResnet(200, kV2),
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
      Densenet("densenet100_k12", 32, 12),
      Densenet("densenet100_k24", 32, 24),
      Densenet("densenet40_k12", 12, 12),
      {"nasnet", "cifar10", "nasnet", 32, 32, 0.025, 128, zoo::NasnetCifar},
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

      // With images and one label each; the public program's has no batch size of its own.
      {"trivial", "coco", "trivial", 300, 32, 0.005, 128, zoo::Trivial},

      {"cnn", "mnist", "cnn", 28, 128, 0.004, 128, zoo::SmallCnn},
      {"cnn_5x5", "mnist", "cnn_5x5", 28, 128, 0.001, 128, zoo::SmallCnn5x5},
      {"lenet", "mnist", "lenet5", 28, 128, 0.01, 128, zoo::Lenet},
      {"trivial", "mnist", "trivial", 28, 128, 0.005, 128, zoo::Trivial},
  };
}

// The zoo, and what is registered behind it.
std::deque<Model>& Table() {
  static std::deque<Model> models = MakeModels();
  return models;
}

std::vector<DatasetInfo> MakeDatasets() {
  return {{"imagenet", 1001, 1281167, 50000, 3},
          {"cifar10", 11, 50000, 10000, 3},
          {"coco", 81, 118287, 4952, 3},
          {"mnist", 10, 60000, 10000, 1}};
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

const std::deque<Model>& Models() { return Table(); }

void RegisterModel(Model model) {
  const std::string& dataset = FindDataset(model.dataset).name;
  if (model.name.empty()) throw InvalidArgument("a model needs a name");
  const auto require = [&](bool condition, std::string_view what) {
    if (!condition) throw InvalidArgument(fmt::format("model '{}' needs {}", model.name, what));
  };
  require(static_cast<bool>(model.layers) != static_cast<bool>(model.network), "either layers or a network");
  require(model.image_size > 0, "an image_size of at least 1");
  require(model.default_batch_size > 0, "a default_batch_size of at least 1");
  for (const Model& known : Models())
    if (known.name == model.name && known.dataset == dataset)
      throw Error(Code::kAlreadyExists,
                  fmt::format("there is a model '{}' for dataset '{}' already", model.name, dataset));
  if (model.printed_name.empty()) model.printed_name = model.name;
  model.dataset = dataset;
  Table().push_back(std::move(model));
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
      fmt::format("Invalid dataset name '{}'; known are imagenet, synthetic, cifar10, coco, mnist, fashion-mnist "
                  "and idx:FOLDER",
                  name));
}

}  // namespace muster
