#include "data/format/bundle_writer.h"

#include <algorithm>
#include <cstdio>
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
namespace {

namespace fs = std::filesystem;

std::string FolderOf(const std::string& prefix) { return fs::path(prefix).parent_path().string(); }

struct DataFile {
  fs::path path;
  int num_shards;  // as its name has it
};

// The files "<prefix>.data-ddddd-of-ddddd", whether or not an index names them.
std::vector<DataFile> DataFilesOf(const std::string& prefix) {
  const std::string folder = FolderOf(prefix), begin = fs::path(prefix).filename().string() + ".data-";
  std::vector<DataFile> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(begin)) continue;
    int shard = 0, num_shards = 0, end = 0;
    const std::string rest = name.substr(begin.size());
    if (std::sscanf(rest.c_str(), "%5d-of-%5d%n", &shard, &num_shards, &end) == 2 &&
        static_cast<size_t>(end) == rest.size())
      found.push_back({entry.path(), num_shards});
  }
  return found;
}

// Of all numbers of shards but one.
void RemoveData(const std::string& prefix, int kept_shards) {
  std::error_code error;
  for (const DataFile& file : DataFilesOf(prefix))
    if (file.num_shards != kept_shards) fs::remove(file.path, error);
}

}  // namespace

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
  if (!entries_.emplace(key, std::move(entry)).second)
    throw InvalidArgument(fmt::format("tensor {} comes twice in checkpoint {}", key, prefix_));
}

void BundleWriter::Add(const std::string& name, const Tensor& value, int shard) {
  Insert(name, Write({static_cast<const char*>(value.raw()), value.byte_size()}, TensorFlowDataType(value.dtype()),
                     value.shape(), shard));
}

void BundleWriter::AddStrings(const std::string& name, const Shape& shape, const std::vector<std::string>& values,
                              int shard) {
  if (static_cast<int64_t>(values.size()) != shape.num_elements())
    throw InvalidArgument(
        fmt::format("tensor {} of shape {} cannot hold {} texts", name, shape.ToString(), values.size()));
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

void BundleWriter::AddSlice(const std::string& name, const Shape& whole, const TensorSlice& slice, const Tensor& value,
                            int shard) {
  if (!slice.FitsInto(whole) || !(slice.ShapeIn(whole) == value.shape()))
    throw InvalidArgument(fmt::format("tensor {} of shape {} has no slice {} of shape {}", name, whole.ToString(),
                                      slice.ToString(), value.shape().ToString()));
  const int data_type = TensorFlowDataType(value.dtype());
  if (const auto before = entries_.find(name); before != entries_.end()) {
    if (before->second.slices.empty())
      throw InvalidArgument(fmt::format("tensor {} comes twice in checkpoint {}", name, prefix_));
    if (before->second.data_type != data_type || !(before->second.shape == whole))
      throw InvalidArgument(fmt::format("the slices of tensor {} differ in the tensor's type or shape", name));
  }
  Insert(SliceKey(name, slice),
         Write({static_cast<const char*>(value.raw()), value.byte_size()}, data_type, value.shape(), shard));
  BundleEntry& entry = entries_[name];
  entry.data_type = data_type;
  entry.shape = whole;
  entry.slices.push_back(slice);
}

// Makes the data files that an index of "num_shards" shards names the checkpoint, in one step.
void BundleWriter::CommitIndex(int num_shards) const {
  TableBuilder table;
  table.Add("", BundleHeaderBytes(num_shards));
  for (const auto& [key, entry] : entries_) table.Add(key, BundleEntryBytes(entry));
  OutputFile index(IndexPath(prefix_), OutputFile::Mode::kPending);
  index.Append(table.Finish());
  index.Sync();
  index.Close();
  index.Commit();
  SyncFolder(FolderOf(prefix_));
}

// Gives the data files of the checkpoint the names they should have: second names first. False, with the checkpoint as
// it was, if the file system has no such thing or no space.
bool BundleWriter::RenameData(int from_shards) const try {
  const int num_shards = static_cast<int>(shards_.size());
  for (int shard = 0; shard < num_shards; ++shard) {
    const std::string to = ShardPath(prefix_, shard, num_shards);
    fs::remove(to);
    fs::create_hard_link(ShardPath(prefix_, shard, from_shards), to);
  }
  SyncFolder(FolderOf(prefix_));
  CommitIndex(num_shards);
  return true;
} catch (const std::exception&) {
  return false;
}

// Where a checkpoint of the same name is, its data files have the names that ours should get. So ours first get those
// of a checkpoint with more shards: which data belong to it, an index says by their number.
void BundleWriter::Finish() {
  for (const auto& shard : shards_) {
    shard->Sync();
    shard->Close();
  }
  const int num_shards = static_cast<int>(shards_.size());
  const std::vector<DataFile> before = DataFilesOf(prefix_);
  int free = num_shards;
  while (std::ranges::count(before, free, &DataFile::num_shards) > 0) ++free;
  try {
    for (int shard = 0; shard < num_shards; ++shard) Shard(shard).CommitAs(ShardPath(prefix_, shard, free));
    SyncFolder(FolderOf(prefix_));
    CommitIndex(free);
  } catch (...) {  // a full disk needs the space
    std::error_code error;
    for (int shard = 0; shard < num_shards; ++shard) fs::remove(ShardPath(prefix_, shard, free), error);
    throw;
  }
  const int named = free == num_shards || RenameData(free) ? num_shards : free;
  RemoveData(prefix_, named);
}

void RemoveBundle(const std::string& prefix) {
  std::error_code error;
  if (fs::remove(IndexPath(prefix), error)) SyncFolder(FolderOf(prefix));
  RemoveData(prefix, 0);
}

}  // namespace muster::data
