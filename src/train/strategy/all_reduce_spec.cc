#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "muster/error.h"
#include "train/strategy/all_reduce.h"

namespace muster {
namespace {

const std::vector<std::string>& Algorithms() {
  static const std::vector<std::string> names = {"nccl",  "nccl/xring", "nccl/rechd",  "nccl/pscpu", "xring",
                                                 "pscpu", "psgpu",      "pscpu/pscpu", "collective"};
  return names;
}

int ShiftOf(char unit) {
  switch (unit) {
    case 'K':
    case 'k': return 10;
    case 'M': return 20;
    case 'G': return 30;
    case 'T': return 40;
    default: return 0;
  }
}

std::optional<int64_t> ParseCount(std::string_view text) {
  const int shift = text.empty() ? 0 : ShiftOf(text.back());
  if (shift != 0) text.remove_suffix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  if (value > (INT64_MAX >> shift)) return std::nullopt;
  return value << shift;
}

// The parts of a specification between colons, each with the place where it begins.
class SpecParser {
 public:
  explicit SpecParser(const std::string& spec) : spec_(spec) {}

  std::vector<AllReduceRange> Parse() {
    const std::vector<size_t> starts = Starts();
    std::vector<AllReduceRange> ranges;
    for (size_t i = 0; i < starts.size(); i += 2) {
      ranges.push_back(ParseRange(starts[i]));
      if (i + 1 == starts.size()) break;
      const std::optional<int64_t> limit = ParseCount(PartAt(starts[i + 1]));
      if (!limit)
        throw Wrong(starts[i + 1],
                    fmt::format("'{}' is not a size (digits, then K, M, G or T if you like)", PartAt(starts[i + 1])));
      ranges.back().limit = *limit;
      if (i + 2 == starts.size())
        throw InvalidArgument(fmt::format(
            "flag --all_reduce_spec={}: at its end: an algorithm is missing: ALGORITHM:LIMIT:ALGORITHM", spec_));
    }
    return ranges;
  }

 private:
  Error Wrong(size_t at, const std::string& what) const {
    return InvalidArgument(fmt::format("flag --all_reduce_spec={}: at character {}: {}", spec_, at + 1, what));
  }

  std::vector<size_t> Starts() const {
    std::vector<size_t> starts = {0};
    for (size_t i = 0; i < spec_.size(); ++i)
      if (spec_[i] == ':') starts.push_back(i + 1);
    return starts;
  }

  std::string PartAt(size_t start) const { return spec_.substr(start, spec_.find(':', start) - start); }

  AllReduceRange ParseRange(size_t start) const {
    const std::string part = PartAt(start);
    const size_t hash = part.find('#');
    AllReduceRange range;
    range.algorithm = part.substr(0, hash);
    if (std::find(Algorithms().begin(), Algorithms().end(), range.algorithm) == Algorithms().end())
      throw Wrong(start,
                  fmt::format("unknown algorithm '{}'; there are {}", range.algorithm, fmt::join(Algorithms(), ", ")));
    if (hash == std::string::npos) return range;
    const std::optional<int64_t> shards = ParseCount(part.substr(hash + 1));
    if (!shards || *shards < 1)
      throw Wrong(start + hash + 1, fmt::format("'{}' is not a number of shards", part.substr(hash + 1)));
    range.shards = *shards;
    return range;
  }

  const std::string& spec_;
};

// The algorithm within a process: the first of two names.
std::string LocalName(const std::string& algorithm) { return algorithm.substr(0, algorithm.find('/')); }

}  // namespace

std::vector<AllReduceRange> ParseAllReduceSpec(const std::string& spec) { return SpecParser(spec).Parse(); }

void CheckAllReduceSpec(const std::vector<AllReduceRange>& spec, int num_towers, int num_cpus) {
  for (const AllReduceRange& range : spec) {
    const std::string name = LocalName(range.algorithm);
    const bool is_ring = name == "xring" || name == "collective";
    if (name != "pscpu" && name != "psgpu" && !is_ring) continue;  // nothing to share out within a process
    const int64_t most = name == "pscpu" ? num_cpus : name == "collective" ? 2 : num_towers;
    if (name == "collective" && range.shards > most)
      throw InvalidArgument(
          fmt::format("flag --all_reduce_spec: collective#{}: there are at most 2 rings, collective#2", range.shards));
    if (range.shards <= most) continue;
    throw InvalidArgument(fmt::format("flag --all_reduce_spec: {}#{} needs {} {}, but there {} {}", range.algorithm,
                                      range.shards, range.shards, name == "pscpu" ? "CPU devices" : "devices",
                                      most == 1 ? "is" : "are", most));
  }
}

namespace train {

AllReduce AlgorithmOf(const AllReduceRange& range, const ExchangeContext& context, const std::vector<int>& ring_order) {
  const std::string name = LocalName(range.algorithm);
  if (name == "pscpu") return Shuffle(context.cpus, range.shards);
  if (name == "psgpu") return Shuffle(context.tower_devices, range.shards);
  // NCCL's and TensorFlow's collectives are rings within a server; only these and xring have sub-rings of their own.
  const int64_t rings = name == "nccl" ? 1 : range.shards;
  return Ring(rings, name == "xring" ? ring_order : std::vector<int>{});
}

}  // namespace train
}  // namespace muster
