#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "muster/error.h"
#include "muster/layout.h"

namespace muster {

// Bytes on a device; given back to where they came from when the last Tensor lets go. The only shared owner in Muster.
class Buffer {
 public:
  using Release = void (*)(void* data, void* owner);
  Buffer(void* data, size_t bytes, Release release, void* owner)
      : data_(data), bytes_(bytes), release_(release), owner_(owner) {}
  ~Buffer() {
    if (release_ != nullptr) release_(data_, owner_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

  // Zeroed host memory, 64-byte aligned.
  static std::shared_ptr<Buffer> OnHost(size_t bytes);

 private:
  void* data_;
  size_t bytes_;
  Release release_;
  void* owner_;
};

// A typed, shaped view of a Buffer. Copies share the bytes. Distinct tensors may be used from different threads; one
// tensor's bytes are protected by nobody.
class Tensor {
 public:
  Tensor() = default;  // empty: is_empty() is true
  // Zeros on the host, row-major.
  Tensor(DType dtype, Shape shape);
  Tensor(TensorDesc desc, std::shared_ptr<Buffer> buffer, size_t offset = 0);

  template <typename T>
  static Tensor Of(Shape shape, std::span<const T> values);
  template <typename T>
  static Tensor Of(Shape shape, std::initializer_list<T> values) {
    return Of<T>(shape, std::span<const T>(values.begin(), values.size()));
  }
  template <typename T>
  static Tensor Scalar(T value) {
    return Of<T>(Shape{}, {value});
  }

  bool is_empty() const { return buffer_ == nullptr; }
  const TensorDesc& desc() const { return desc_; }
  DType dtype() const { return desc_.dtype; }
  const Shape& shape() const { return desc_.shape; }
  size_t byte_size() const { return static_cast<size_t>(desc_.byte_size()); }
  void* raw() const { return static_cast<char*>(buffer_->data()) + offset_; }

  // The elements, row-major. Throws InvalidArgument if T is not the dtype.
  template <typename T>
  std::span<T> data() const;
  // The only element of a scalar (or of any one-element tensor).
  template <typename T>
  T scalar() const {
    return data<T>()[0];
  }

  Tensor Clone() const;

 private:
  void CheckType(DType asked) const;

  TensorDesc desc_;
  std::shared_ptr<Buffer> buffer_;
  size_t offset_ = 0;
};

template <typename T>
Tensor Tensor::Of(Shape shape, std::span<const T> values) {
  if (static_cast<int64_t>(values.size()) != shape.num_elements())
    throw InvalidArgument("a tensor of shape " + shape.ToString() + " cannot hold " + std::to_string(values.size()) +
                          " values");
  Tensor tensor(DTypeOf<T>(), shape);
  std::copy(values.begin(), values.end(), static_cast<T*>(tensor.raw()));
  return tensor;
}

template <typename T>
std::span<T> Tensor::data() const {
  CheckType(DTypeOf<T>());
  return {static_cast<T*>(raw()), static_cast<size_t>(desc_.shape.num_elements())};
}

}  // namespace muster
