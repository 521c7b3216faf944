#include "bench/peer_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "muster/error.h"

namespace muster::bench {
namespace {

constexpr std::array kDatasets = {"cifar10", "coco", "imagenet"};

// What the public program has and Muster does not, yet: networks that are not image classifiers.
struct LaterModel {
  std::string_view dataset, name;
};
constexpr std::array kLaterModels = {LaterModel{"imagenet", "ncf"}, LaterModel{"coco", "ssd300"},
                                     LaterModel{"librispeech", "deepspeech2"}};

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

template <typename List>
bool Holds(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

const DatasetInfo& FindBenchDataset(std::string_view name) {
  if (Holds(kDatasets, name)) return FindDataset(name);
  if (std::ranges::any_of(kLaterModels, [&](const LaterModel& later) { return later.dataset == name; }))
    throw Unimplemented(fmt::format("dataset '{}' is not in this version of Muster yet", name));
  throw InvalidArgument(fmt::format("Unknown dataset '{}'. Must be one of {}", name, fmt::join(kDatasets, ", ")));
}

const Model& FindBenchModel(std::string_view name, std::string_view dataset) {
  for (const Model& model : Models()) {
    if (model.name == name && model.dataset == dataset) return model;
  }
  for (const LaterModel& later : kLaterModels) {
    if (later.dataset != dataset || later.name != name) continue;
    throw Unimplemented(fmt::format("model '{}' for dataset '{}' is not in this version of Muster yet", name, dataset));
  }
  throw InvalidArgument(fmt::format("Invalid model name '{}' for dataset '{}'. Must be one of {}{}", name, dataset,
                                    fmt::join(ModelNames(dataset), ", "), Advice(std::string(name), dataset)));
}

}  // namespace muster::bench
