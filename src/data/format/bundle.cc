#include "data/format/bundle.h"

#include <array>

#include <fmt/format.h>

namespace muster::data {
namespace {

struct DataTypeRow {
  int number;
  const char* name;
  size_t bytes;  // 0: elements differ
};

// TensorFlow's types.proto.
constexpr std::array kDataTypes = {
    DataTypeRow{1, "float32", 4},  DataTypeRow{2, "float64", 8},   DataTypeRow{3, "int32", 4},
    DataTypeRow{4, "uint8", 1},    DataTypeRow{5, "int16", 2},     DataTypeRow{6, "int8", 1},
    DataTypeRow{7, "string", 0},   DataTypeRow{8, "complex64", 8}, DataTypeRow{9, "int64", 8},
    DataTypeRow{10, "bool", 1},    DataTypeRow{11, "qint8", 1},    DataTypeRow{12, "quint8", 1},
    DataTypeRow{13, "qint32", 4},  DataTypeRow{14, "bfloat16", 2}, DataTypeRow{15, "qint16", 2},
    DataTypeRow{16, "quint16", 2}, DataTypeRow{17, "uint16", 2},   DataTypeRow{18, "complex128", 16},
    DataTypeRow{19, "float16", 2}, DataTypeRow{20, "resource", 0}, DataTypeRow{21, "variant", 0},
    DataTypeRow{22, "uint32", 4},  DataTypeRow{23, "uint64", 8},
};

const DataTypeRow* FindRow(int number) {
  for (const DataTypeRow& row : kDataTypes)
    if (row.number == number) return &row;
  return nullptr;
}

}  // namespace

std::string DataTypeName(int data_type) {
  const DataTypeRow* row = FindRow(data_type);
  return row != nullptr ? row->name : fmt::format("type {}", data_type);
}

std::optional<DType> DTypeOfDataType(int data_type) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt32,
                            DType::kInt64, DType::kUInt8, DType::kBool})
    if (TensorFlowDataType(dtype) == data_type) return dtype;
  return std::nullopt;
}

std::optional<size_t> ElementBytes(int data_type) {
  const DataTypeRow* row = FindRow(data_type);
  if (row == nullptr || row->bytes == 0) return std::nullopt;
  return row->bytes;
}

std::string IndexPath(const std::string& prefix) { return prefix + ".index"; }

std::string ShardPath(const std::string& prefix, int shard, int num_shards) {
  return fmt::format("{}.data-{:05}-of-{:05}", prefix, shard, num_shards);
}

}  // namespace muster::data
