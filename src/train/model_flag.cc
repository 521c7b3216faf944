#include "train/model_flag.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "muster/error.h"

namespace muster::train {
namespace {

// What was probably meant: the model that is printed under this name, else the names that look most like it.
std::vector<std::string> NearestModels(std::string name, const std::vector<std::string>& known) {
  constexpr size_t kMost = 3;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const Model& model : Models())
    if (model.printed_name == name) return {model.name};
  std::vector<std::string> nearest = NearestWords(name, known);
  if (nearest.size() > kMost) nearest.resize(kMost);
  return nearest;
}

}  // namespace

const Model& FindModelOfFlag(const std::string& name, std::span<const std::string_view> datasets) {
  std::vector<std::string> known;
  for (const std::string_view dataset : datasets)
    for (const std::string& candidate : ModelNames(dataset)) {
      if (candidate == name) return FindModel(name, dataset);
      if (std::ranges::find(known, candidate) == known.end()) known.push_back(candidate);
    }
  std::ranges::sort(known);
  const std::vector<std::string> nearest = NearestModels(name, known);
  const std::string advice = nearest.empty() ? "" : fmt::format(" (did you mean {}?)", fmt::join(nearest, " or "));
  throw InvalidArgument(fmt::format("--model={}: no such model{}; known are {}", name, advice, fmt::join(known, ", ")));
}

}  // namespace muster::train
