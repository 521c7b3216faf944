#include "bench/all_reduce_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "muster/error.h"

namespace muster::bench {
namespace {

const std::vector<std::string>& Algorithms() {
  static const std::vector<std::string> names = {"nccl",  "nccl/xring", "nccl/rechd",  "nccl/pscpu", "xring",
                                                 "pscpu", "psgpu",      "pscpu/pscpu", "collective"};
  return names;
}

std::optional<int64_t> ParseCount(std::string_view text) {
  int shift = 0;
  if (!text.empty()) {
    switch (text.back()) {
      case 'K':
      case 'k':
        shift = 10;
        break;
      case 'M':
        shift = 20;
        break;
      case 'G':
        shift = 30;
        break;
      case 'T':
        shift = 40;
        break;
      default:
        break;
    }
  }
  if (shift != 0) text.remove_suffix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  if (value > (INT64_MAX >> shift)) return std::nullopt;
  return value << shift;
}

AllReduceRange ParseRange(const std::string& spec, const std::string& part) {
  AllReduceRange range;
  const size_t hash = part.find('#');
  range.algorithm = part.substr(0, hash);
  if (hash != std::string::npos) {
    const std::optional<int64_t> shards = ParseCount(part.substr(hash + 1));
    if (!shards || *shards < 1) {
      throw InvalidArgument(
          fmt::format("flag --all_reduce_spec={}: '{}' is not a number of shards", spec, part.substr(hash + 1)));
    }
    range.shards = *shards;
  }
  if (std::find(Algorithms().begin(), Algorithms().end(), range.algorithm) == Algorithms().end()) {
    throw InvalidArgument(fmt::format("flag --all_reduce_spec={}: unknown algorithm '{}'; there are {}", spec,
                                      range.algorithm, fmt::join(Algorithms(), ", ")));
  }
  return range;
}

}  // namespace

std::vector<AllReduceRange> ParseAllReduceSpec(const std::string& spec) {
  std::vector<std::string> parts(1);
  for (const char c : spec) {
    if (c == ':') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.size() % 2 == 0) {
    throw InvalidArgument(
        fmt::format("flag --all_reduce_spec={}: expected ALGORITHM or ALGORITHM:LIMIT:ALGORITHM and so on", spec));
  }
  std::vector<AllReduceRange> ranges;
  for (size_t i = 0; i < parts.size(); i += 2) {
    ranges.push_back(ParseRange(spec, parts[i]));
    if (i + 1 == parts.size()) break;
    const std::optional<int64_t> limit = ParseCount(parts[i + 1]);
    if (!limit) throw InvalidArgument(fmt::format("flag --all_reduce_spec={}: '{}' is not a size", spec, parts[i + 1]));
    ranges.back().limit = *limit;
  }
  return ranges;
}

}  // namespace muster::bench
