#include "data/imagenet/verify_images.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/input_file.h"
#include "base/printable.h"
#include "data/format/record_reader.h"
#include "data/format/record_scan.h"
#include "data/image/decode.h"
#include "data/imagenet/example.h"
#include "data/imagenet/open_images.h"
#include "data/imagenet/record_images.h"
#include "data/imagenet/unpacking_budget.h"
#include "data/parallel.h"
#include "muster/error.h"

namespace muster::data {
namespace {

namespace fs = std::filesystem;

constexpr DecodeOptions kFast;

// Decodes an image and notes how that went.
void Check(const EncodedImage& image, const std::string& where, VerifiedImages* result) {
  thread_local RgbImage decoded;
  const std::string odd = image.is_raw() ? "" : DecodeImage(image.bytes, kFast, {}, &decoded);
  if (!odd.empty()) result->odd.push_back(fmt::format("{}: {}", where, odd));
  ++result->whole;
}

void CheckRecord(const std::string& record, const std::string& where, int num_classes, VerifiedImages* result) {
  try {
    Check(ParseImageExample(record, num_classes), where, result);
  } catch (const Error& error) {
    if (error.code() != Code::kDataLoss) throw;
    result->broken.push_back(fmt::format("{}: {}", where, error.message()));
  }
}

std::string At(const fs::path& path, int64_t record, int64_t offset) {
  return fmt::format("{}: record {} at byte {}", path.string(), record, offset);
}

// What a record has of the budget while it is in memory.
class Share {
 public:
  explicit Share(UnpackingBudget* budget) : budget_(budget) {}
  ~Share() { budget_->GiveBack(bytes_); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  bool Wait(uint64_t bytes) {
    if (!budget_->Wait(bytes)) return false;
    bytes_ = bytes;
    return true;
  }

 private:
  UnpackingBudget* budget_;
  uint64_t bytes_ = 0;
};

// A packed file can only be read from its beginning: what lies behind damage of the packing is lost.
void CheckPacked(RecordReader* reader, int num_classes, UnpackingBudget* budget, VerifiedImages* result) {
  std::string record;
  while (!reader->is_lost()) {
    std::string().swap(record);  // the last record's memory goes with its share
    Share share(budget);
    reader->set_admission([&](uint64_t bytes) { return share.Wait(bytes); });
    try {
      if (!reader->Next(&record)) return;
    } catch (const Error& error) {
      if (error.code() != Code::kDataLoss) throw;
      result->broken.push_back(error.message());
      continue;
    }
    CheckRecord(record, At(reader->path(), reader->index(), reader->offset()), num_classes, result);
  }
}

void CheckPlain(const fs::path& path, int num_classes, VerifiedImages* result) {
  ScanRecords(InputFile(path.string()), [&](const ScannedRecord& record) {
    const std::string where = At(path, record.number, record.offset);
    if (record.damage.empty()) CheckRecord(record.bytes, where, num_classes, result);
    else result->broken.push_back(fmt::format("{}: {}", where, record.damage));
  });
}

// What cannot be read at all (a folder of that name, a file without permission) is a broken file among others.
VerifiedImages CheckFile(const fs::path& path, int num_classes, UnpackingBudget* budget) {
  VerifiedImages result;
  try {
    RecordReader reader(path);
    if (reader.is_packed()) CheckPacked(&reader, num_classes, budget, &result);
    else CheckPlain(path, num_classes, &result);
  } catch (const Error& error) {
    result.Add(error, error.message());
  }
  if (result.whole == 0 && result.broken.empty() && result.unread.empty())
    result.broken.push_back(fmt::format("{}: the file holds no record", path.string()));
  return result;
}

VerifiedImages CheckImage(const ImageSource& images, int64_t index) {
  VerifiedImages result;
  const std::string where = images.Where(index);
  try {
    Check(images.Get(index), where, &result);
  } catch (const Error& error) {
    const bool is_named = error.message().find(Printable(where)) != std::string::npos;
    result.Add(error, is_named ? error.message() : fmt::format("{}: {}", where, error.message()));
  }
  return result;
}

// In order, whichever thread was first.
VerifiedImages Together(std::vector<VerifiedImages> parts) {
  VerifiedImages all;
  for (VerifiedImages& part : parts) {
    all.whole += part.whole;
    std::move(part.broken.begin(), part.broken.end(), std::back_inserter(all.broken));
    std::move(part.odd.begin(), part.odd.end(), std::back_inserter(all.odd));
    std::move(part.unread.begin(), part.unread.end(), std::back_inserter(all.unread));
  }
  return all;
}

VerifiedImages CheckShards(const std::vector<fs::path>& shards, int num_classes, int threads,
                           const SystemMemory& memory) {
  UnpackingBudget budget(memory);
  std::vector<VerifiedImages> parts(shards.size());
  ParallelFor(static_cast<int64_t>(shards.size()), threads, [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    parts[at] = CheckFile(shards[at], num_classes, &budget);
  });
  parts.push_back({.broken = MissingShards(shards)});
  return Together(std::move(parts));
}

VerifiedImages CheckImages(const ImageSource& images, int threads) {
  std::vector<VerifiedImages> parts(static_cast<size_t>(images.size()));
  ParallelFor(images.size(), threads, [&](int64_t i) { parts[static_cast<size_t>(i)] = CheckImage(images, i); });
  return Together(std::move(parts));
}

}  // namespace

void VerifiedImages::Add(const Error& error, const std::string& line) {
  if (error.code() == Code::kCancelled) throw error;
  (error.code() == Code::kResourceExhausted ? unread : broken).push_back(line);
}

VerifiedImages VerifyImages(const fs::path& folder, Subset subset, int num_classes, const std::string& flag,
                            int threads, const SystemMemory& memory) {
  const ImageForm form = FindImageForm(folder, subset);
  if (form == ImageForm::kRecords)
    return CheckShards(FindShards(folder, SubsetName(subset)), num_classes, threads, memory);
  VerifiedImages unopened;
  try {
    const FolderFault note = [&](const Error& error, bool /*is_skipped*/) { unopened.Add(error, error.message()); };
    VerifiedImages opened = CheckImages(*OpenImages(folder, subset, num_classes, flag, note), threads);
    return Together({std::move(unopened), std::move(opened)});
  } catch (const Error& error) {
    if (form == ImageForm::kNone) throw;
    unopened.Add(error, error.message());
    return unopened;
  }
}

}  // namespace muster::data
