#include "bench/peer_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "muster/error.h"

namespace muster::bench {
namespace {

constexpr std::array kDatasets = {"cifar10", "imagenet"};
constexpr std::array kLaterDatasets = {"coco", "librispeech"};

// "official_resnet50_v2" stands for six depths in two versions, and so on.
struct Family {
  std::string_view dataset;
  std::string_view prefix;
};
constexpr std::array kLaterModels = {Family{"imagenet", "mobilenet"},       Family{"imagenet", "nasnet"},
                                     Family{"imagenet", "official_resnet"}, Family{"imagenet", "ncf"},
                                     Family{"cifar10", "nasnet"},           Family{"cifar10", "densenet"}};

// The end of the message about a name that is not there: where it is, or what was meant.
std::string Advice(const std::string& name, std::string_view dataset) {
  for (const char* other : kDatasets) {
    for (const Model& model : Models()) {
      if (other != dataset && model.dataset == other && model.name == name) {
        return fmt::format("; {} belongs to --data_name={}", name, other);
      }
    }
  }
  std::vector<std::string> nearest = NearestWords(name, ModelNames(dataset));
  if (nearest.empty()) return "";
  // Variants of a name (resnet50_v2) start with it; the plain one is meant.
  const auto distance = [&](const std::string& word) { return EditDistance(name, word); };
  return fmt::format("; did you mean {}?", *std::ranges::min_element(nearest, {}, distance));
}

template <typename List> bool Holds(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

const DatasetInfo& FindBenchDataset(std::string_view name) {
  if (Holds(kDatasets, name)) return FindDataset(name);
  if (Holds(kLaterDatasets, name)) {
    throw Unimplemented(fmt::format("dataset '{}' is not in this version of Muster yet", name));
  }
  throw InvalidArgument(fmt::format("Unknown dataset '{}'. Must be one of {}", name, fmt::join(kDatasets, ", ")));
}

const Model& FindBenchModel(std::string_view name, std::string_view dataset) {
  for (const Model& model : Models()) {
    if (model.name == name && model.dataset == dataset) return model;
  }
  for (const Family& family : kLaterModels) {
    if (family.dataset != dataset || name.substr(0, family.prefix.size()) != family.prefix) continue;
    throw Unimplemented(fmt::format("model '{}' for dataset '{}' is not in this version of Muster yet", name, dataset));
  }
  throw InvalidArgument(fmt::format("Invalid model name '{}' for dataset '{}'. Must be one of {}{}", name, dataset,
                                    fmt::join(ModelNames(dataset), ", "), Advice(std::string(name), dataset)));
}

}  // namespace muster::bench
