#include "data/imagenet/record_images.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "base/check.h"
#include "data/file_pool.h"
#include "data/format/record_layout.h"
#include "data/format/record_reader.h"
#include "data/imagenet/example.h"
#include "data/imagenet/unpacking_budget.h"
#include "base/interrupt.h"
#include "data/missing_files.h"
#include "data/parallel.h"
#include "muster/error.h"

namespace muster::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFooterBytes = sizeof(uint32_t);  // the checksum behind the bytes
constexpr int64_t kRecordsBetweenLooks = 1024;     // at Ctrl-C

// Where a record's bytes lie.
struct Place {
  int64_t offset = 0;  // of its header
  int64_t length = 0;  // of its bytes
};

struct Shard {
  std::vector<Place> records;
  std::string unpacked;        // of a packed file: the bytes of all its records, one behind the other
  std::vector<size_t> starts;  // and where in it each begins
};

std::string At(const fs::path& path, int64_t record, int64_t offset) {
  return fmt::format("{}: record {} at byte {}", path.string(), record, offset);
}

bool IsPacked(const fs::path& path) { return RecordReader(path).is_packed(); }

// Only headers are read.
void FindRecords(const InputFile& file, Shard* shard) {
  for (int64_t offset = 0; offset < file.size();) {
    const auto number = static_cast<int64_t>(shard->records.size());
    if (number % kRecordsBetweenLooks == 0) ThrowIfInterrupted();
    char header[kRecordHeaderBytes];
    if (file.ReadAt(offset, header) < sizeof header)
      throw DataLoss(fmt::format("{}: the file ends inside the record's header of {} bytes",
                                 At(file.path(), number, offset), sizeof header));
    if (!HeaderIsRight(header))
      throw DataLoss(
          fmt::format("{}: the checksum of the record's length is wrong; where the next record begins is not known",
                      At(file.path(), number, offset)));
    const auto length = LoadFixed<uint64_t>(header);
    const auto left = static_cast<uint64_t>(file.size() - offset) - sizeof header;
    if (left < kFooterBytes || length > left - kFooterBytes)
      throw DataLoss(fmt::format("{}: the file ends {} bytes into the record of {}", At(file.path(), number, offset),
                                 left, length));
    shard->records.push_back({offset, static_cast<int64_t>(length)});
    offset += static_cast<int64_t>(sizeof header + length + kFooterBytes);
  }
}

void Unpack(const fs::path& path, UnpackingBudget* budget, Shard* shard) {
  // of millions of empty records it is all that they take
  constexpr uint64_t kEntryBytes = sizeof(Place) + sizeof(size_t);
  RecordReader reader(path);
  reader.set_admission([&](uint64_t bytes) { return budget->Take(bytes) && budget->Take(kEntryBytes); });
  for (std::string record; reader.Next(&record);) {
    ThrowIfInterrupted();
    shard->records.push_back({reader.offset(), static_cast<int64_t>(record.size())});
    shard->starts.push_back(shard->unpacked.size());
    shard->unpacked += record;
  }
}

// "train-00001-of-00003.gz" is number 1 of the set "train-" … "-of-00003" … ".gz".
struct ShardSet {
  fs::path folder;
  std::string before, after;
  int64_t total = 0;
  size_t digits = 0;
  std::set<int64_t> numbers;

  fs::path PathOf(int64_t number) const { return folder / fmt::format("{}{:0{}}{}", before, number, digits, after); }
};

// Names of another make belong to no set.
std::optional<ShardSet> SetOf(const fs::path& path) {
  constexpr std::string_view kOf = "-of-";
  const std::string name = path.filename().string();
  const size_t of = name.rfind(kOf), begin = of == std::string::npos ? of : name.rfind('-', of - 1);
  if (begin == std::string::npos) return std::nullopt;
  ShardSet set{path.parent_path(), name.substr(0, begin + 1), name.substr(of), 0, of - begin - 1, {}};
  int64_t number = 0;
  const char* total = name.data() + of + kOf.size();
  const auto [end, error] = std::from_chars(name.data() + begin + 1, name.data() + of, number);
  const bool is_total = std::from_chars(total, name.data() + name.size(), set.total).ec == std::errc();
  if (end != name.data() + of || error != std::errc() || !is_total || number < 0 || number >= set.total)
    return std::nullopt;
  set.numbers.insert(number);
  return set;
}

std::string MissingLine(const ShardSet& set) {
  int64_t first = 0;
  while (set.numbers.contains(first)) ++first;
  return MissingFilesLine(set.PathOf(first), set.total - static_cast<int64_t>(set.numbers.size()), set.total);
}

class RecordImages : public ImageSource {
 public:
  RecordImages(const std::vector<fs::path>& files, int num_classes, const SystemMemory& memory)
      : files_(files), num_classes_(num_classes), shards_(files.size()) {
    UnpackingBudget budget(memory);
    ParallelFor(static_cast<int64_t>(files.size()), 0, [&](int64_t i) {
      const auto at = static_cast<size_t>(i);
      if (IsPacked(files[at])) Unpack(files[at], &budget, &shards_[at]);
      else FindRecords(*files_.Open(at), &shards_[at]);
      if (shards_[at].records.empty()) throw DataLoss(fmt::format("{}: the file holds no record", files[at].string()));
    });
    for (const Shard& shard : shards_) {
      firsts_.push_back(size_);
      size_ += static_cast<int64_t>(shard.records.size());
    }
  }

  int64_t size() const override { return size_; }

  EncodedImage Get(int64_t index) const override {
    try {
      return ParseImageExample(Read(index), num_classes_);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: {}", Where(index), error.message()));
    }
  }

  std::string Where(int64_t index) const override {
    const auto [shard, record] = Find(index);
    return At(files_.path(shard), record, shards_[shard].records[static_cast<size_t>(record)].offset);
  }

  std::vector<int64_t> record_file_sizes() const override {
    std::vector<int64_t> sizes;
    for (const Shard& shard : shards_) sizes.push_back(static_cast<int64_t>(shard.records.size()));
    return sizes;
  }

 private:
  // Number of the file, and of the record in it.
  std::pair<size_t, int64_t> Find(int64_t index) const {
    MUSTER_CHECK(index >= 0 && index < size_);
    const auto shard =
        static_cast<size_t>(std::upper_bound(firsts_.begin(), firsts_.end(), index) - firsts_.begin()) - 1;
    return {shard, index - firsts_[shard]};
  }

  // The checksum of a packed file's record was verified when it was unpacked.
  std::string Read(int64_t index) const {
    const auto [at, record] = Find(index);
    const Shard& shard = shards_[at];
    const Place place = shard.records[static_cast<size_t>(record)];
    const auto length = static_cast<size_t>(place.length);
    if (!shard.starts.empty()) return shard.unpacked.substr(shard.starts[static_cast<size_t>(record)], length);
    std::string bytes(length + kFooterBytes, '\0');
    const size_t got = files_.Open(at)->ReadAt(place.offset + static_cast<int64_t>(kRecordHeaderBytes), bytes);
    if (got < bytes.size()) throw DataLoss("the file has become shorter since it was opened");
    const auto stored = LoadFixed<uint32_t>(bytes.data() + length);
    bytes.resize(length);
    if (stored != MaskCrc(Crc32c(bytes))) throw DataLoss(fmt::format("the checksum of its {} bytes is wrong", length));
    return bytes;
  }

  mutable FilePool files_;
  int num_classes_;
  std::vector<Shard> shards_;
  std::vector<int64_t> firsts_;  // index of each file's first image
  int64_t size_ = 0;
};

}  // namespace

std::unique_ptr<ImageSource> OpenRecordImages(const std::vector<fs::path>& files, int num_classes,
                                              const SystemMemory& memory) {
  return std::make_unique<RecordImages>(files, num_classes, memory);
}

std::vector<std::string> MissingShards(const std::vector<fs::path>& shards) {
  std::map<std::string, ShardSet> sets;  // by what all names of a set have in common
  for (const fs::path& path : shards) {
    std::optional<ShardSet> set = SetOf(path);
    if (set) sets.try_emplace(set->before + set->after, *set).first->second.numbers.merge(set->numbers);
  }
  std::vector<std::string> lines;
  for (const auto& [name, set] : sets)
    if (static_cast<int64_t>(set.numbers.size()) < set.total) lines.push_back(MissingLine(set));
  return lines;
}

std::vector<fs::path> FindShards(const fs::path& folder, std::string_view name) {
  std::vector<fs::path> shards;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string file = entry.path().filename().string();
    if (file.starts_with(fmt::format("{}-", name)) && file.find("-of-") != std::string::npos)
      shards.push_back(entry.path());
  }
  std::sort(shards.begin(), shards.end());
  return shards;
}

}  // namespace muster::data
