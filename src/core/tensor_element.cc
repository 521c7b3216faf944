#include "core/tensor_element.h"

namespace muster {

double ElementAsDouble(const Tensor& value, size_t i) {
  switch (value.dtype()) {
    case DType::kFloat32: return static_cast<double>(value.data<float>()[i]);
    case DType::kFloat64: return value.data<double>()[i];
    case DType::kFloat16: return static_cast<double>(ToFloat(value.data<Float16>()[i]));
    case DType::kBFloat16: return static_cast<double>(ToFloat(value.data<BFloat16>()[i]));
    case DType::kInt32: return value.data<int32_t>()[i];
    case DType::kInt64: return static_cast<double>(value.data<int64_t>()[i]);
    case DType::kUInt8: return value.data<uint8_t>()[i];
    case DType::kBool: return value.data<bool>()[i] ? 1 : 0;
  }
  return 0;
}

}  // namespace muster
