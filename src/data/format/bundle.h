#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/format/tensor_slice.h"
#include "muster/dtype.h"
#include "muster/shape.h"

namespace muster::data {

// TensorFlow's checkpoints of version 2, "tensor bundles": for a prefix like "model.ckpt-7" the files
//   model.ckpt-7.index                   a table (table.h): name of a tensor → where its bytes are, and what they are
//   model.ckpt-7.data-00000-of-00002 …   shards: the bytes of tensors, one after another, little-endian, row-major

inline constexpr int kStringDataType = 7;  // TensorFlow's DT_STRING

// One tensor, or one slice of a tensor.
struct BundleEntry {
  std::string name;
  int data_type = 0;  // TensorFlow's number
  Shape shape;
  int shard = 0;
  int64_t offset = 0;               // in the shard
  int64_t size = 0;                 // bytes there
  uint32_t crc = 0;                 // of those bytes, masked
  std::vector<TensorSlice> slices;  // not empty: the value lies in these slices, and shard to crc mean nothing
};

// TensorFlow's name of a type ("float32", "string", "int16"; "type 99" for one that does not exist); Muster's type for
// it, if it has it; the bytes of an element if all have the same.
std::string DataTypeName(int data_type);
std::optional<DType> DTypeOfDataType(int data_type);
std::optional<size_t> ElementBytes(int data_type);

std::string IndexPath(const std::string& prefix);
std::string ShardPath(const std::string& prefix, int shard, int num_shards);

}  // namespace muster::data
