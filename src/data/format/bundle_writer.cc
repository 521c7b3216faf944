#include "data/format/bundle_writer.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "data/format/bundle_messages.h"
#include "data/format/coding.h"
#include "data/format/crc32c.h"
#include "data/format/table.h"
#include "muster/error.h"

namespace muster::data {

BundleWriter::BundleWriter(std::string prefix, int num_shards) : prefix_(std::move(prefix)) {
  MUSTER_CHECK(num_shards >= 1);
  for (int shard = 0; shard < num_shards; ++shard)
    shards_.push_back(std::make_unique<OutputFile>(ShardPath(prefix_, shard, num_shards), OutputFile::Mode::kPending));
}

OutputFile& BundleWriter::Shard(int shard) {
  MUSTER_CHECK(shard >= 0 && static_cast<size_t>(shard) < shards_.size());
  return *shards_[static_cast<size_t>(shard)];
}

BundleEntry BundleWriter::Write(std::string_view bytes, int data_type, const Shape& shape, int shard) {
  BundleEntry entry;
  entry.data_type = data_type;
  entry.shape = shape;
  entry.shard = shard;
  entry.offset = Shard(shard).size();
  entry.size = static_cast<int64_t>(bytes.size());
  entry.crc = MaskCrc(Crc32c(bytes));
  Shard(shard).Append(bytes);
  return entry;
}

void BundleWriter::Insert(const std::string& key, BundleEntry entry) {
  if (key.empty()) throw InvalidArgument("a tensor in a checkpoint needs a name");
  if (!entries_.emplace(key, std::move(entry)).second) throw InvalidArgument(fmt::format("tensor {} comes twice in checkpoint {}", key, prefix_));
}

void BundleWriter::Add(const std::string& name, const Tensor& value, int shard) {
  Insert(name, Write({static_cast<const char*>(value.raw()), value.byte_size()}, TensorFlowDataType(value.dtype()), value.shape(), shard));
}

void BundleWriter::AddStrings(const std::string& name, const Shape& shape, const std::vector<std::string>& values, int shard) {
  if (static_cast<int64_t>(values.size()) != shape.num_elements())
    throw InvalidArgument(fmt::format("tensor {} of shape {} cannot hold {} texts", name, shape.ToString(), values.size()));
  std::string bytes, texts;
  uint32_t crc = 0;
  for (const std::string& text : values) {
    const uint64_t length = text.size();
    AppendVarint(&bytes, length);
    crc = ExtendCrc32c(crc, &length, length <= UINT32_MAX ? sizeof(uint32_t) : sizeof(uint64_t));
    texts += text;
  }
  std::string lengths_crc;
  AppendFixed32(&lengths_crc, MaskCrc(crc));
  crc = ExtendCrc32c(ExtendCrc32c(crc, lengths_crc.data(), lengths_crc.size()), texts.data(), texts.size());
  BundleEntry entry = Write(bytes + lengths_crc + texts, kStringDataType, shape, shard);
  entry.crc = MaskCrc(crc);
  Insert(name, std::move(entry));
}

void BundleWriter::AddSlice(const std::string& name, const Shape& whole, const TensorSlice& slice, const Tensor& value, int shard) {
  if (!slice.FitsInto(whole) || !(slice.ShapeIn(whole) == value.shape()))
    throw InvalidArgument(fmt::format("tensor {} of shape {} has no slice {} of shape {}", name, whole.ToString(), slice.ToString(), value.shape().ToString()));
  BundleEntry& entry = entries_[name];
  const int data_type = TensorFlowDataType(value.dtype());
  if (!entry.slices.empty() && (entry.data_type != data_type || !(entry.shape == whole)))
    throw InvalidArgument(fmt::format("the slices of tensor {} differ in the tensor's type or shape", name));
  entry.data_type = data_type;
  entry.shape = whole;
  entry.slices.push_back(slice);
  Insert(SliceKey(name, slice), Write({static_cast<const char*>(value.raw()), value.byte_size()}, data_type, value.shape(), shard));
}

void BundleWriter::Finish() {
  TableBuilder table;
  table.Add("", BundleHeaderBytes(static_cast<int>(shards_.size())));
  for (const auto& [key, entry] : entries_) table.Add(key, BundleEntryBytes(entry));
  OutputFile index(IndexPath(prefix_), OutputFile::Mode::kPending);
  index.Append(table.Finish());
  for (const auto& shard : shards_) {
    shard->Sync();
    shard->Close();
  }
  index.Sync();
  index.Close();

  // A checkpoint of the same name goes first: its index must never be seen beside data that is not its own.
  RemoveBundle(prefix_);
  for (const auto& shard : shards_) shard->Commit();
  index.Commit();
  SyncFolder(std::filesystem::path(prefix_).parent_path().string());
}

void RemoveBundle(const std::string& prefix) {
  std::error_code error;
  if (std::filesystem::remove(IndexPath(prefix), error)) SyncFolder(std::filesystem::path(prefix).parent_path().string());
  const std::filesystem::path path(prefix);
  const std::string data = path.filename().string() + ".data-";
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(data) && name.find(".tmp") == std::string::npos) found.push_back(entry.path());
  }
  for (const auto& file : found) std::filesystem::remove(file, error);
}

}  // namespace muster::data
