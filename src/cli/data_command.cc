#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/flags.h"
#include "base/flags_help.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/printable.h"
#include "base/standard_output.h"
#include "bench/derived.h"
#include "cli/commands.h"
#include "cli/dispatch.h"
#include "data/cifar/cifar10.h"
#include "data/cifar/verify_cifar10.h"
#include "data/imagenet/image_cache.h"
#include "data/imagenet/make_cache.h"
#include "data/imagenet/open_images.h"
#include "data/imagenet/verify_images.h"
#include "data/verify_idx.h"
#include "muster/error.h"
#include "muster/models.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
using data::Subset;

const char kUsage[] =
    "muster data verify --data_dir=DIR     names each broken record and missing file; exit code 1 if any\n"
    "muster data cache --data_dir=DIR --cache_dir=OUT\n"
    "                                      decodes ImageNet's images once, for training from OUT\n";

FlagTable DataFlags() {
  return FlagTable({
      {.name = "data_dir", .type = FlagType::kString, .help = "folder of the data set", .important = true},
      {.name = "data_name",
       .type = FlagType::kEnum,
       .help = "which data set it is (idx: in MNIST's form); unset: cifar10 if the folder's name contains that and not "
               "imagenet, idx if it has such files, else imagenet",
       .enum_values = {"imagenet", "cifar10", "fashion-mnist", "mnist", "idx"},
       .important = true},
      {.name = "subset",
       .type = FlagType::kEnum,
       .default_value = std::string("all"),
       .help = "which part of it",
       .enum_values = {"all", "train", "validation"},
       .important = true},
      {.name = "cache_dir",
       .type = FlagType::kString,
       .help = "cache: folder that gets train.images and validation.images",
       .important = true},
      {.name = "shorter_side",
       .type = FlagType::kInteger,
       .default_value = int64_t{0},
       .help = "cache: make larger images smaller, to this shorter side; 0: keep their size",
       .lower = 0,
       .upper = 1 << 15,
       .important = true},
      {.name = "threads",
       .type = FlagType::kInteger,
       .default_value = int64_t{0},
       .help = "threads; 0: one per core",
       .lower = 0,
       .upper = 1024,
       .important = true},
      {.name = "json",
       .type = FlagType::kBoolean,
       .default_value = false,
       .help = "the result as JSON",
       .important = true},
  });
}

std::string Folder(const FlagValues& values, const char* flag) {
  const std::string folder = values.FindString(flag).value_or("");
  if (folder.empty()) throw InvalidArgument(fmt::format("flag --{} is missing: it names the folder", flag));
  return folder;
}

// Without the flag what muster bench would take; if the folder's name says nothing, at which muster bench stops, what
// the files in it are.
std::string DataName(const FlagValues& values) {
  if (const auto given = values.FindString("data_name")) return *given;
  const std::string folder = values.FindString("data_dir").value_or(""), named = bench::DatasetNamedBy(folder);
  if (named == "cifar10" || named == "imagenet") return named;
  return data::HasIdx(folder) ? "idx" : "imagenet";
}

bool IsOfIdx(const std::string& name) { return name == "idx" || name == "mnist" || name == "fashion-mnist"; }

bool IsThere(Subset subset, const FlagValues& values) {
  const std::string folder = values.GetString("data_dir");
  if (DataName(values) == "cifar10") return data::HasCifar10(folder, subset);
  return data::FindImageForm(folder, subset) != data::ImageForm::kNone;
}

struct Parts {
  std::vector<Subset> taken;
  std::vector<Subset> left_out;
};

// The parts asked for. With "all", a part of which nothing is there is left out, with a line, if there is the other
// one; a part that is there and empty is not, nor one of a set in MNIST's form, which training takes as a whole only.
Parts PartsOf(const FlagValues& values) {
  const std::string subset = values.GetString("subset");
  if (subset == "train") return {{Subset::kTrain}, {}};
  if (subset == "validation") return {{Subset::kValidation}, {}};
  if (IsOfIdx(DataName(values))) return {{Subset::kTrain, Subset::kValidation}, {}};
  Parts parts;
  for (const Subset part : {Subset::kTrain, Subset::kValidation})
    (IsThere(part, values) ? parts.taken : parts.left_out).push_back(part);
  if (parts.taken.empty()) return {{Subset::kTrain}, {}};  // whose opening says what was looked for
  if (!values.GetBool("json"))
    for (const Subset part : parts.left_out)
      WriteStandardOutput(fmt::format("{}: not in the folder, left out\n", data::SubsetName(part)));
  return parts;
}

// Behind the parts that were taken.
void WriteJson(Json parts, const std::vector<Subset>& left_out) {
  for (const Subset part : left_out) parts.push_back({{"subset", data::SubsetName(part)}, {"left_out", true}});
  WriteStandardOutput(parts.Text());
}

std::string Count(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// A line for each thing that was found, and one that counts them.
std::string VerifiedText(Subset subset, const data::VerifiedImages& found) {
  std::string text;
  for (const std::string& line : found.broken) text += fmt::format("BROKEN  {}\n", Printable(line));
  for (const std::string& line : found.unread) text += fmt::format("UNREAD  {}\n", Printable(line));
  for (const std::string& line : found.odd) text += fmt::format("odd     {}\n", Printable(line));
  const std::string unread = found.unread.empty() ? "" : fmt::format(", {} unread", found.unread.size());
  return text + fmt::format("{}: {} can be used, {} broken, {} odd{}\n", data::SubsetName(subset),
                            Count(found.whole, "image"), found.broken.size(), found.odd.size(), unread);
}

data::VerifiedImages VerifyPart(const std::string& name, const std::string& folder, Subset subset, int threads) {
  constexpr char kFlag[] = "--data_dir";
  if (name == "cifar10") return data::VerifyCifar10(folder, subset, kFlag);
  if (IsOfIdx(name)) return data::VerifyIdx(folder, subset, name == "idx" ? 0 : 10, kFlag);
  return data::VerifyImages(folder, subset, FindDataset(name).num_classes, kFlag, threads);
}

int Verify(const FlagValues& values) {
  const std::string folder = Folder(values, "data_dir"), name = DataName(values);
  const bool as_json = values.GetBool("json");
  Json parts = Json::Array();
  size_t failed = 0;
  const Parts wanted = PartsOf(values);
  for (const Subset subset : wanted.taken) {
    const data::VerifiedImages found = VerifyPart(name, folder, subset, static_cast<int>(values.GetInt("threads")));
    failed += found.broken.size() + found.unread.size();
    parts.push_back({{"subset", data::SubsetName(subset)},
                     {"whole", found.whole},
                     {"broken", found.broken},
                     {"odd", found.odd},
                     {"unread", found.unread},
                     {"left_out", false}});
    if (!as_json) WriteStandardOutput(VerifiedText(subset, found));
  }
  if (as_json) WriteJson(parts, wanted.left_out);
  return failed == 0 ? kSuccess : kFailure;
}

int MakeCache(const FlagValues& values) {
  const std::string folder = Folder(values, "data_dir"), out = Folder(values, "cache_dir");
  if (DataName(values) != "imagenet") {
    const std::string name = DataName(values);
    if (values.is_set("data_name"))
      throw InvalidArgument(fmt::format("flag --data_name={}: needs no decoding, so there is nothing to cache", name));
    throw InvalidArgument(fmt::format(
        "flag --data_dir={}: {}, as its {}, needs no decoding, so there is nothing to cache; if it is imagenet, add "
        "--data_name=imagenet",
        folder, name, name == "cifar10" ? "name says" : "files are"));
  }
  std::error_code ignored;
  if (fs::equivalent(folder, out, ignored))
    throw InvalidArgument("flag --cache_dir: must not be the folder of --data_dir");
  Json parts = Json::Array();
  const Parts wanted = PartsOf(values);
  for (const Subset subset : wanted.taken) {
    const auto images = data::OpenImages(folder, subset, FindDataset("imagenet").num_classes, "--data_dir");
    CreateWritableFolder(out);
    const std::string path = (fs::path(out) / data::ImageCacheName(data::SubsetName(subset))).string();
    const data::CacheOptions options{static_cast<int>(values.GetInt("shorter_side")),
                                     static_cast<int>(values.GetInt("threads"))};
    const data::CacheFacts facts = data::MakeImageCache(*images, path, options);
    const std::vector<std::string> missing = data::MissingImageFiles(folder, subset);
    parts.push_back({{"subset", data::SubsetName(subset)},
                     {"file", path},
                     {"images", facts.images},
                     {"bytes", facts.bytes},
                     {"missing", missing},
                     {"left_out", false}});
    if (values.GetBool("json")) continue;
    for (const std::string& line : missing)
      WriteStandardOutput(Printable(line) + "; the images of the others are in the cache\n");
    WriteStandardOutput(fmt::format("{}: {}, {:.1f} MiB\n", Printable(path), Count(facts.images, "image"),
                                    static_cast<double>(facts.bytes) / (1 << 20)));
  }
  if (values.GetBool("json")) WriteJson(parts, wanted.left_out);
  return kSuccess;
}

// Flags may stand anywhere on the line.
std::vector<std::string> FlagsFirst(std::vector<std::string> words) {
  if (words.empty() || words[0].starts_with('-')) return words;
  std::rotate(words.begin(), words.begin() + 1, words.end());
  return words;
}

}  // namespace

int DataCommand(const std::vector<std::string>& words) {
  const FlagTable table = DataFlags();
  const FlagValues values = ParseFlags(table, FlagsFirst(words));
  if (values.help() || values.helpfull()) {
    WriteStandardOutput(values.help() ? HelpText(kUsage, table) : HelpFullText(kUsage, table));
    return kSuccess;
  }
  const std::vector<std::string>& given = values.positional();
  const std::string what = given.size() == 1 ? given[0] : "";
  const bool makes_cache = what == "cache";
  if (what != "verify" && !makes_cache)
    throw InvalidArgument("expected verify or cache, with --data_dir=DIR; try --help");
  for (const char* flag : {"cache_dir", "shorter_side"})
    if (!makes_cache && values.is_set(flag))
      throw InvalidArgument(fmt::format("flag --{} has no meaning without cache", flag));
  InterruptScope interrupts;
  try {
    return makes_cache ? MakeCache(values) : Verify(values);
  } catch (const Error& error) {
    if (error.code() != Code::kCancelled || !Interrupted()) throw;
    return kInterruptedExitCode;
  }
}

}  // namespace muster::cli
