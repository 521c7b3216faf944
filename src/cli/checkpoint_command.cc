#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/flags.h"
#include "base/flags_help.h"
#include "base/json.h"
#include "base/printable.h"
#include "base/standard_output.h"
#include "cli/checkpoint_compare.h"
#include "cli/commands.h"
#include "cli/dispatch.h"
#include "data/format/bundle_reader.h"
#include "muster/error.h"
#include "train/checkpoint_folder.h"

namespace muster::cli {
namespace {

using data::BundleEntry;
using data::BundleReader;

const char kUsage[] =
    "muster checkpoint list PATH       tensors of a checkpoint: name, type, shape, bytes\n"
    "muster checkpoint verify PATH     reads all, compares checksums; exit code 1 if any is wrong\n"
    "muster checkpoint compare A B     which tensors differ, and by how much; exit code 1 if any does\n"
    "A PATH is a checkpoint (model.ckpt-100, with or without .index) or a folder: its newest one,\n"
    "for verify all of them.\n";

FlagTable CheckpointFlags() {
  return FlagTable({
      {.name = "json",
       .type = FlagType::kBoolean,
       .default_value = false,
       .help = "the result as JSON",
       .important = true},
      {.name = "tolerance",
       .type = FlagType::kFloat,
       .default_value = 0.0,
       .help = "compare: numbers may differ by so much (write --tolerance=X)",
       .lower = 0,
       .important = true},
  });
}

int List(const std::string& given, bool as_json) {
  const std::string path = train::CheckpointsOf(given).front();
  const BundleReader bundle(path);
  size_t width = 4;
  int64_t bytes = 0;
  for (const BundleEntry& entry : bundle.entries()) width = std::max(width, Printable(entry.name).size());
  std::string text = fmt::format("{}: {} tensors, {} data file{}\n", Printable(path), bundle.entries().size(),
                                 bundle.num_shards(), bundle.num_shards() == 1 ? "" : "s");
  Json tensors = Json::Array();
  for (const BundleEntry& entry : bundle.entries()) {
    const std::optional<size_t> element = data::ElementBytes(entry.data_type);
    const int64_t size = element ? entry.shape.num_elements() * static_cast<int64_t>(*element) : entry.size;
    const std::string type = data::DataTypeName(entry.data_type);
    const std::string slices = entry.slices.empty() ? "" : fmt::format("  in {} slices", entry.slices.size());
    if (__builtin_add_overflow(bytes, size, &bytes))
      throw DataLoss(fmt::format("{}: up to tensor {} its tensors have more than {} bytes, which cannot be",
                                 data::IndexPath(path), entry.name, std::numeric_limits<int64_t>::max()));
    text += fmt::format("{:<{}}  {:<8}  {:<16}  {:>10}{}\n", Printable(entry.name), width, type, entry.shape.ToString(),
                        size, slices);
    const auto dims = entry.shape.dims();
    tensors.push_back({{"name", entry.name},
                       {"dtype", type},
                       {"shape", std::vector<int64_t>(dims.begin(), dims.end())},
                       {"bytes", size},
                       {"slices", entry.slices.size()}});
  }
  text += fmt::format("{:<{}}  {:<8}  {:<16}  {:>10}\n", "all", width, "", "", bytes);
  if (as_json) {
    Json json = {{"checkpoint", path}, {"data_files", bundle.num_shards()}, {"bytes", bytes}};
    json["tensors"] = std::move(tensors);
    text = json.Text();
  }
  WriteStandardOutput(text);
  return kSuccess;
}

int Verify(const std::string& given, bool as_json) {
  bool all_right = true;
  Json results = Json::Array();
  for (const std::string& path : train::CheckpointsOf(given)) {
    const std::optional<Error> wrong = train::WrongWithCheckpoint(path);
    all_right = all_right && !wrong;
    results.push_back({{"checkpoint", path}, {"intact", !wrong}, {"error", wrong ? Json(wrong->what()) : Json()}});
    if (!as_json)
      WriteStandardOutput(wrong ? fmt::format("BROKEN  {}\n", wrong->what())
                                : fmt::format("intact  {}\n", Printable(path)));
  }
  if (as_json) WriteStandardOutput(results.Text());
  return all_right ? kSuccess : kFailure;
}

std::string LineOf(const TensorDifference& difference) {
  const std::string name = Printable(difference.name);
  if (!difference.what.empty()) return fmt::format("{}: {}\n", name, difference.what);
  return fmt::format("{}: {} of {} elements differ, by {:.3g} at most\n", name, difference.elements, difference.of,
                     difference.largest);
}

int Compare(const std::string& a, const std::string& b, double tolerance, bool as_json) {
  const std::string path_a = train::CheckpointsOf(a).front(), path_b = train::CheckpointsOf(b).front();
  const Comparison comparison = CompareCheckpoints(path_a, path_b, tolerance);
  const bool equal = comparison.differences.empty();
  if (as_json) {
    Json differences = Json::Array();
    for (const TensorDifference& d : comparison.differences)
      differences.push_back(
          {{"name", d.name}, {"what", d.what}, {"elements", d.elements}, {"of", d.of}, {"largest", d.largest}});
    WriteStandardOutput(
        Json{{"a", path_a}, {"b", path_b}, {"tensors_in_both", comparison.tensors}, {"differences", differences}}
            .Text());
    return equal ? kSuccess : kFailure;
  }
  std::string text = fmt::format("A: {}\nB: {}\n", Printable(path_a), Printable(path_b));
  for (const TensorDifference& difference : comparison.differences) text += LineOf(difference);
  text += fmt::format("{} tensors in both; {}\n", comparison.tensors,
                      equal ? "no differences" : fmt::format("{} differences", comparison.differences.size()));
  WriteStandardOutput(text);
  return equal ? kSuccess : kFailure;
}

// Flags may stand anywhere on the line.
std::vector<std::string> FlagsFirst(std::vector<std::string> words) {
  std::stable_partition(words.begin(), words.end(),
                        [](const std::string& word) { return word.size() > 1 && word[0] == '-'; });
  return words;
}

}  // namespace

int CheckpointCommand(const std::vector<std::string>& words) {
  const FlagTable table = CheckpointFlags();
  const FlagValues values = ParseFlags(table, FlagsFirst(words));
  if (values.help() || values.helpfull()) {
    const std::string text = values.help() ? HelpText(kUsage, table) : HelpFullText(kUsage, table);
    WriteStandardOutput(text);
    return kSuccess;
  }
  const std::vector<std::string>& given = values.positional();
  const std::string what = given.empty() ? "" : given[0];
  const bool as_json = values.GetBool("json");
  if (what == "compare" && given.size() == 3) return Compare(given[1], given[2], values.GetFloat("tolerance"), as_json);
  if (values.is_set("tolerance")) throw InvalidArgument("flag --tolerance has no meaning without compare A B");
  if (what == "list" && given.size() == 2) return List(given[1], as_json);
  if (what == "verify" && given.size() == 2) return Verify(given[1], as_json);
  throw InvalidArgument("expected list PATH, verify PATH or compare A B; try --help");
}

}  // namespace muster::cli
