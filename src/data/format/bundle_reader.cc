#include "data/format/bundle_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "data/format/bundle_messages.h"
#include "data/format/coding.h"
#include "data/format/crc32c.h"
#include "data/format/table.h"
#include "muster/error.h"

namespace muster::data {
namespace {

constexpr int64_t kLargestIndex = int64_t{1} << 30;
constexpr size_t kPiece = size_t{1} << 20;

std::string ReadIndexFile(const std::string& prefix) {
  const InputFile file(IndexPath(prefix));
  if (file.size() > kLargestIndex)
    throw DataLoss(fmt::format("{}: has {} bytes; no index is that large", file.path(), file.size()));
  std::string bytes(static_cast<size_t>(file.size()), '\0');
  bytes.resize(file.ReadAt(0, bytes));
  return bytes;
}

std::string NameOf(const BundleEntry& entry) { return entry.name.empty() ? "a slice" : "tensor " + entry.name; }

}  // namespace

BundleReader::BundleReader(std::string prefix) : prefix_(std::move(prefix)) {
  ParseIndex();
  for (int shard = 0; shard < num_shards_; ++shard) {
    try {
      shards_.push_back(std::make_unique<InputFile>(ShardPath(prefix_, shard, num_shards_)));
    } catch (const Error& error) {
      if (error.code() != Code::kNotFound) throw;
      shards_.push_back(nullptr);  // only a loss if a tensor is in it
    }
  }
}

void BundleReader::ParseIndex() {
  const std::string path = IndexPath(prefix_);
  const std::string bytes = ReadIndexFile(prefix_);
  std::vector<TableEntry> table = ParseTable(path, bytes);
  if (table.empty() || !table[0].key.empty())
    throw DataLoss(fmt::format("{}: has no header; this is no index of a checkpoint", path));
  num_shards_ = ParseBundleHeader(table[0].value, path);
  for (size_t i = 1; i < table.size(); ++i) {
    const bool is_slice = IsSliceKey(table[i].key);
    BundleEntry entry =
        ParseBundleEntry(table[i].value, path, table[i].block_offset, is_slice ? "a slice" : table[i].key);
    entry.name = is_slice ? "" : table[i].key;
    if (entry.shard < 0 || entry.shard >= num_shards_)
      throw DataLoss(fmt::format("{}: tensor {} is in shard {} of {}, which does not exist", path, entry.name,
                                 entry.shard, num_shards_));
    if (entry.offset < 0 || entry.size < 0 || entry.size > std::numeric_limits<int64_t>::max() - entry.offset)
      throw DataLoss(fmt::format("{}: {} has {} bytes at byte {}, which cannot be", path, NameOf(entry), entry.size,
                                 entry.offset));
    if (is_slice) {
      slices_.emplace(std::move(table[i].key), std::move(entry));
    } else {
      entries_.push_back(std::move(entry));
    }
  }
  RefuseSharedBytes();
}

// Nobody writes such a checkpoint; a made-up one could stand for far more memory than its files take.
void BundleReader::RefuseSharedBytes() const {
  std::vector<const BundleEntry*> parts;
  const auto collect = [&](const BundleEntry& entry) {
    if (entry.slices.empty() && entry.size > 0) parts.push_back(&entry);
  };
  for (const BundleEntry& entry : entries_) collect(entry);
  for (const auto& [key, entry] : slices_) collect(entry);
  std::ranges::sort(parts, {}, [](const BundleEntry* e) { return std::pair(e->shard, e->offset); });
  for (size_t i = 1; i < parts.size(); ++i) {
    const BundleEntry &before = *parts[i - 1], &entry = *parts[i];
    if (before.shard == entry.shard && before.offset + before.size > entry.offset)
      throw DataLoss(fmt::format("{}: {} and {} would share byte {} of {}", IndexPath(prefix_), NameOf(before),
                                 NameOf(entry), entry.offset, ShardPath(prefix_, entry.shard, num_shards_)));
  }
}

const BundleEntry* BundleReader::Find(std::string_view name) const {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), name,
                                      [](const BundleEntry& e, std::string_view n) { return e.name < n; });
  return found != entries_.end() && found->name == name ? &*found : nullptr;
}

const BundleEntry& BundleReader::Get(std::string_view name) const {
  const BundleEntry* entry = Find(name);
  if (entry == nullptr) throw NotFound(fmt::format("{}: holds no tensor {}", IndexPath(prefix_), name));
  return *entry;
}

const BundleEntry& BundleReader::GetSlice(const BundleEntry& whole, const TensorSlice& slice) const {
  const auto found = slices_.find(SliceKey(whole.name, slice));
  const auto lost = [&](std::string_view why) {
    return DataLoss(fmt::format("{}: tensor {}: slice {} {}", IndexPath(prefix_), whole.name, slice.ToString(), why));
  };
  if (found == slices_.end()) throw lost("is not there");
  const BundleEntry& entry = found->second;
  if (!entry.slices.empty()) throw lost("has slices itself");
  if (!slice.FitsInto(whole.shape)) throw lost(fmt::format("does not lie inside {}", whole.shape.ToString()));
  if (!(entry.shape == slice.ShapeIn(whole.shape)) || entry.data_type != whole.data_type)
    throw lost(fmt::format("is {}{}, which does not fit", DataTypeName(entry.data_type), entry.shape.ToString()));
  return entry;
}

std::string BundleReader::Where(const BundleEntry& entry) const {
  return fmt::format("{}: {} at byte {}", ShardPath(prefix_, entry.shard, num_shards_), NameOf(entry), entry.offset);
}

const InputFile& BundleReader::ShardOf(const BundleEntry& entry) const {
  const auto& shard = shards_[static_cast<size_t>(entry.shard)];
  if (shard == nullptr)
    throw NotFound(fmt::format("{}: no such file; tensor {} of the checkpoint is in it",
                               ShardPath(prefix_, entry.shard, num_shards_), entry.name));
  return *shard;
}

// Before memory is taken: what the entry claims fits its shape and lies inside the file.
void BundleReader::CheckExtent(const BundleEntry& entry) const {
  const std::optional<size_t> element = ElementBytes(entry.data_type);
  if (element && entry.size != entry.shape.num_elements() * static_cast<int64_t>(*element))
    throw DataLoss(fmt::format("{}: tensor {}: has {} bytes, but {}{} takes {}", IndexPath(prefix_), entry.name,
                               entry.size, DataTypeName(entry.data_type), entry.shape.ToString(),
                               entry.shape.num_elements() * static_cast<int64_t>(*element)));
  const int64_t end = ShardOf(entry).size();
  if (!element && entry.shape.num_elements() > entry.size)  // each takes a byte at least
    throw DataLoss(fmt::format("{}: has more elements than bytes", Where(entry)));
  if (entry.offset > end || entry.size > end - entry.offset)
    throw DataLoss(fmt::format(
        "{}: its {} bytes reach beyond the end of the file at byte {}: it was cut off, or belongs to another index",
        Where(entry), entry.size, end));
}

// Before memory is taken: the slices lie inside the file and cover each element of the tensor once.
void BundleReader::CheckSlices(const BundleEntry& whole) const {
  const auto wrong = [&](std::string_view what) {
    return DataLoss(fmt::format("{}: the slices of tensor {} {}", IndexPath(prefix_), whole.name, what));
  };
  const int64_t elements = whole.shape.num_elements();
  int64_t held = 0, largest = 0;
  for (const TensorSlice& slice : whole.slices) {
    const BundleEntry& part = GetSlice(whole, slice);
    CheckExtent(part);
    held += part.shape.num_elements();
    largest = std::max(largest, part.shape.num_elements());
    if (held > elements) break;  // a slice came twice, perhaps a million times
  }
  if (held != elements) throw wrong(fmt::format("hold {} elements of {}", held, elements));
  // As many as there are, so that one which comes twice leaves out another.
  std::string is_there(static_cast<size_t>(elements), '\0');
  const std::string ones(static_cast<size_t>(largest), '\1');
  for (const TensorSlice& slice : whole.slices) CopySlice(slice, whole.shape, 1, ones.data(), is_there.data());
  if (const size_t at = is_there.find('\0'); at != std::string::npos)
    throw wrong(fmt::format("overlap, and leave out its element {}", at));
}

void BundleReader::ReadBytes(const BundleEntry& entry, char* out) const {
  CheckExtent(entry);
  const auto size = static_cast<size_t>(entry.size);
  if (ShardOf(entry).ReadAt(entry.offset, {out, size}) < size)
    throw DataLoss(fmt::format("{}: the file became shorter", Where(entry)));
  if (entry.data_type == kStringDataType) return;  // see StringsOf
  if (MaskCrc(Crc32c({out, size})) != entry.crc)
    throw DataLoss(fmt::format("{}: the checksum of its {} bytes is wrong", Where(entry), size));
}

Tensor BundleReader::Read(std::string_view name) const {
  const BundleEntry& entry = Get(name);
  const std::optional<DType> dtype = DTypeOfDataType(entry.data_type);
  if (!dtype)
    throw Unimplemented(fmt::format("{}: tensor {} is of {}, which Muster does not compute with", IndexPath(prefix_),
                                    name, DataTypeName(entry.data_type)));
  if (entry.slices.empty()) {
    CheckExtent(entry);
    Tensor value(*dtype, entry.shape);
    ReadBytes(entry, static_cast<char*>(value.raw()));
    return value;
  }
  CheckSlices(entry);
  Tensor value(*dtype, entry.shape);
  for (const TensorSlice& slice : entry.slices) {
    const BundleEntry& part = GetSlice(entry, slice);
    Tensor elements(*dtype, part.shape);
    ReadBytes(part, static_cast<char*>(elements.raw()));
    CopySlice(slice, entry.shape, SizeOf(*dtype), static_cast<const char*>(elements.raw()),
              static_cast<char*>(value.raw()));
  }
  return value;
}

// The lengths as varints, the masked CRC of the lengths (as fixed 32-bit numbers, 64-bit where one needs it), all
// texts. The entry's checksum is of the lengths in that form, their masked CRC and the texts.
std::vector<std::string> BundleReader::StringsOf(const BundleEntry& entry) const {
  CheckExtent(entry);
  std::string bytes(static_cast<size_t>(entry.size), '\0');
  ReadBytes(entry, bytes.data());
  std::string_view rest = bytes;
  const auto broken = [&](std::string_view what) { return DataLoss(fmt::format("{}: {}", Where(entry), what)); };
  std::vector<uint64_t> lengths(static_cast<size_t>(entry.shape.num_elements()));
  uint32_t crc = 0;
  for (uint64_t& length : lengths) {
    if (!TakeVarint(&rest, &length)) throw broken("the lengths of its texts are not whole");
    crc = ExtendCrc32c(crc, &length, length <= UINT32_MAX ? sizeof(uint32_t) : sizeof(uint64_t));
  }
  std::string_view stored;
  if (!TakeBytes(&rest, sizeof(uint32_t), &stored) || LoadFixed<uint32_t>(stored.data()) != MaskCrc(crc))
    throw broken("the checksum of the lengths of its texts is wrong");
  crc = ExtendCrc32c(ExtendCrc32c(crc, stored.data(), stored.size()), rest.data(), rest.size());
  if (MaskCrc(crc) != entry.crc) throw broken("the checksum of its texts is wrong");
  std::vector<std::string> strings;
  for (const uint64_t length : lengths) {
    std::string_view text;
    if (!TakeBytes(&rest, length, &text)) throw broken("a text reaches beyond its end");
    strings.emplace_back(text);
  }
  return strings;
}

std::vector<std::string> BundleReader::ReadStrings(std::string_view name) const {
  const BundleEntry& entry = Get(name);
  if (entry.data_type != kStringDataType || !entry.slices.empty())
    throw InvalidArgument(
        fmt::format("{}: tensor {} is of {}, not string", IndexPath(prefix_), name, DataTypeName(entry.data_type)));
  return StringsOf(entry);
}

void BundleReader::VerifyIndex() const { VerifyMetaBlock(IndexPath(prefix_), ReadIndexFile(prefix_)); }

void BundleReader::Verify(const BundleEntry& entry) const {
  if (!entry.slices.empty()) {
    CheckSlices(entry);
    for (const TensorSlice& slice : entry.slices) Verify(GetSlice(entry, slice));
    return;
  }
  if (entry.data_type == kStringDataType) {
    StringsOf(entry);
    return;
  }
  CheckExtent(entry);
  std::string piece(std::min(kPiece, static_cast<size_t>(entry.size)), '\0');
  uint32_t crc = 0;
  for (int64_t done = 0; done < entry.size; done += static_cast<int64_t>(piece.size())) {
    piece.resize(std::min(kPiece, static_cast<size_t>(entry.size - done)));
    if (ShardOf(entry).ReadAt(entry.offset + done, piece) < piece.size())
      throw DataLoss(fmt::format("{}: the file became shorter", Where(entry)));
    crc = ExtendCrc32c(crc, piece.data(), piece.size());
  }
  if (MaskCrc(crc) != entry.crc)
    throw DataLoss(fmt::format("{}: the checksum of its {} bytes is wrong", Where(entry), entry.size));
}

}  // namespace muster::data
