#include "bench/sweep_spec.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/nearest.h"
#include "muster/error.h"

namespace muster::bench {
namespace {

class Parser {
 public:
  Parser(std::string_view text, const FlagTable& table) : text_(text), table_(table) {}

  std::vector<SweepAxis> Parse() {
    std::vector<SweepAxis> axes;
    for (size_t begin = 0; begin <= text_.size();) {
      const size_t end = std::min(text_.find(';', begin), text_.size());
      axes.push_back(ParseAxis(begin, end));
      const auto same = [&](const SweepAxis& axis) { return axis.flag == axes.back().flag; };
      if (std::count_if(axes.begin(), axes.end(), same) > 1)
        Fail(begin, fmt::format("--{} comes twice", axes.back().flag));
      begin = end + 1;
    }
    CheckSize(axes);
    return axes;
  }

 private:
  void CheckSize(const std::vector<SweepAxis>& axes) const {
    constexpr size_t kMostPoints = 10000;
    size_t points = 1;
    for (const SweepAxis& axis : axes) points = std::min(points * axis.values.size(), kMostPoints + 1);
    if (points > kMostPoints) Fail(0, fmt::format("more than {} points", kMostPoints));
  }

  SweepAxis ParseAxis(size_t begin, size_t end) const {
    const size_t equals = text_.find('=', begin);
    if (equals >= end) Fail(begin, "expected flag=value,value,...");
    SweepAxis axis{std::string(text_.substr(begin, equals - begin)), {}};
    const FlagSpec& spec = FindFlag(axis.flag, begin);
    for (size_t at = equals + 1; at <= end;) {
      const size_t comma = std::min(text_.find(',', at), end);
      axis.values.push_back(ParseValue(spec, at, comma));
      at = comma + 1;
    }
    return axis;
  }

  const FlagSpec& FindFlag(const std::string& name, size_t at) const {
    for (const char* own : {"json", "sweep", "sweep_csv"})
      if (name == own) Fail(at, fmt::format("--{} cannot be swept", name));
    if (const FlagSpec* spec = table_.Find(name); spec != nullptr) return *spec;
    std::vector<std::string> known;
    for (const FlagSpec& spec : table_.specs()) known.push_back(spec.name);
    const std::vector<std::string> nearest = NearestWords(name, known);
    Fail(at,
         fmt::format("there is no flag --{}{}", name, nearest.empty() ? "" : "; did you mean --" + nearest[0] + "?"));
  }

  std::string ParseValue(const FlagSpec& spec, size_t begin, size_t end) const {
    std::string value(text_.substr(begin, end - begin));
    if (value.empty()) Fail(begin, fmt::format("--{} lacks a value here", spec.name));
    if (spec.name == "batch_size" && value == "auto") return value;  // the largest that fits, no number
    try {
      CheckFlagValue(spec, ParseFlagValue(spec, value), value);
    } catch (const Error& error) {
      Fail(begin, error.what());
    }
    return value;
  }

  [[noreturn]] void Fail(size_t at, const std::string& what) const {
    throw InvalidArgument(fmt::format("--sweep=\"{}\", character {}: {}", text_, at + 1, what));
  }

  const std::string_view text_;
  const FlagTable& table_;
};

}  // namespace

std::vector<SweepAxis> ParseSweep(std::string_view text, const FlagTable& table) { return Parser(text, table).Parse(); }

std::vector<SweepPoint> SweepPoints(const std::vector<SweepAxis>& axes) {
  std::vector<SweepPoint> points = {{}};
  for (const SweepAxis& axis : axes) {
    std::vector<SweepPoint> longer;
    for (const SweepPoint& point : points)
      for (const std::string& value : axis.values) {
        longer.push_back(point);
        longer.back().push_back(value);
      }
    points = std::move(longer);
  }
  return points;
}

}  // namespace muster::bench
