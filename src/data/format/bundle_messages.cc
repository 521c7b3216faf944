#include "data/format/bundle_messages.h"

#include <limits>

#include <fmt/format.h>

#include "data/format/proto/checkpoint.pb.h"
#include "muster/error.h"

namespace muster::data {
namespace {

constexpr int kBundleVersion = 1;    // kTensorBundleVersion, since TensorFlow 1.0
constexpr int kMostShards = 100000;  // as many as the five digits of a shard's name tell apart

// Throws unless the dimensions are those of a tensor that can exist.
Shape ParseShape(const checkpoint::TensorShapeProto& message, const std::string& where) {
  const auto wrong = [&](std::string_view why) { return DataLoss(fmt::format("{}: its shape {}", where, why)); };
  if (message.unknown_rank()) throw wrong("is not known");
  if (message.dim_size() > Shape::kMaxRank)
    throw Unimplemented(fmt::format("{}: has {} dimensions; Muster's tensors have at most {}", where,
                                    message.dim_size(), Shape::kMaxRank));
  std::vector<int64_t> dims;
  int64_t count = 1;  // of elements, as if no dimension were zero
  for (const auto& dim : message.dim()) {
    if (dim.size() < 0) throw wrong("has a negative dimension");
    if (__builtin_mul_overflow(count, std::max<int64_t>(dim.size(), 1), &count) ||
        count > std::numeric_limits<int64_t>::max() / 16)
      throw wrong("has more elements than can exist");
    dims.push_back(dim.size());
  }
  return Shape(dims);
}

TensorSlice ParseSlice(const checkpoint::TensorSliceProto& message) {
  TensorSlice slice;
  for (const auto& extent : message.extent())
    slice.extents.push_back({extent.start(), extent.has_length_case() == checkpoint::TensorSliceProto::Extent::kLength
                                                 ? extent.length()
                                                 : -1});
  return slice;
}

}  // namespace

int ParseBundleHeader(std::string_view bytes, const std::string& path) {
  checkpoint::BundleHeaderProto header;
  if (!header.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw DataLoss(fmt::format("{}: the header is no BundleHeaderProto; this is no index of a checkpoint", path));
  if (header.endianness() != checkpoint::BundleHeaderProto::LITTLE)
    throw Unimplemented(fmt::format("{}: the checkpoint was written by a big-endian machine", path));
  if (header.version().min_consumer() > kBundleVersion)
    throw Unimplemented(fmt::format("{}: wants a reader of version {}; this one is of version {}", path,
                                    header.version().min_consumer(), kBundleVersion));
  if (header.num_shards() < 1 || header.num_shards() > kMostShards)
    throw DataLoss(fmt::format("{}: the header tells of {} data files", path, header.num_shards()));
  return header.num_shards();
}

std::string BundleHeaderBytes(int num_shards) {
  checkpoint::BundleHeaderProto header;
  header.set_num_shards(num_shards);
  header.mutable_version()->set_producer(kBundleVersion);
  return header.SerializeAsString();
}

BundleEntry ParseBundleEntry(std::string_view bytes, const std::string& path, int64_t offset, std::string_view what) {
  const std::string where = fmt::format("{}: the entry of {} in the block at byte {}", path, what, offset);
  checkpoint::BundleEntryProto message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw DataLoss(fmt::format("{}: is no BundleEntryProto", where));
  BundleEntry entry;
  entry.data_type = message.dtype();
  entry.shape = ParseShape(message.shape(), where);
  entry.shard = message.shard_id();
  entry.offset = message.offset();
  entry.size = message.size();
  entry.crc = message.crc32c();
  for (const auto& slice : message.slices()) entry.slices.push_back(ParseSlice(slice));
  return entry;
}

std::string BundleEntryBytes(const BundleEntry& entry) {
  checkpoint::BundleEntryProto message;
  message.set_dtype(entry.data_type);
  message.mutable_shape();
  for (const int64_t dim : entry.shape.dims()) message.mutable_shape()->add_dim()->set_size(dim);
  message.set_shard_id(entry.shard);
  message.set_offset(entry.offset);
  message.set_size(entry.size);
  message.set_crc32c(entry.crc);
  for (const TensorSlice& slice : entry.slices) {
    auto* out = message.add_slices();
    for (const TensorSlice::Extent& e : slice.extents) {
      auto* extent = out->add_extent();
      if (e.start != 0) extent->set_start(e.start);
      if (e.length >= 0) extent->set_length(e.length);
    }
  }
  return message.SerializeAsString();
}

}  // namespace muster::data
