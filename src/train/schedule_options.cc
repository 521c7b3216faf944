#include "train/schedule_options.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "muster/error.h"

namespace muster::train {
namespace {

constexpr std::string_view kForm = "LR0;E1;LR1;...;En;LRn was expected, for example 0.1;30;0.01";

[[noreturn]] void Fail(std::string_view text, std::string_view problem) {
  throw InvalidArgument(fmt::format("--piecewise_learning_rate_schedule={}: {}; {}", text, problem, kForm));
}

double ParseNumber(std::string_view part, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (error != std::errc{} || end != part.data() + part.size() || !std::isfinite(value))
    Fail(text, fmt::format("'{}' is no number", part));
  if (value < 0) Fail(text, fmt::format("'{}' is negative", part));
  return value;
}

}  // namespace

const std::vector<std::string>& ScheduleNames() {
  static const std::vector<std::string> names{"constant",  "exponential", "staircase",
                                              "piecewise", "polynomial",  "cosine"};
  return names;
}

void ParsePiecewise(std::string_view text, ScheduleOptions* schedule) {
  schedule->kind = "piecewise";
  schedule->rates.clear();
  schedule->boundaries.clear();
  size_t begin = 0;
  for (bool is_rate = true; begin <= text.size(); is_rate = !is_rate) {
    const size_t end = std::min(text.find(';', begin), text.size());
    const double value = ParseNumber(text.substr(begin, end - begin), text);
    if (!is_rate && !schedule->boundaries.empty() && value <= schedule->boundaries.back())
      Fail(text, fmt::format("epoch {} does not come after epoch {}", value, schedule->boundaries.back()));
    (is_rate ? schedule->rates : schedule->boundaries).push_back(value);
    begin = end + 1;
  }
  if (schedule->rates.size() != schedule->boundaries.size() + 1) Fail(text, "it ends with an epoch");
  schedule->init_rate = schedule->rates.front();
}

}  // namespace muster::train
