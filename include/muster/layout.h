#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "muster/dtype.h"
#include "muster/shape.h"

namespace muster {

// A memory form that only one backend understands, such as oneDNN's blocked weights. Padding elements are zero and stay
// zero under element-wise updates. Implementations are immutable and safe to use from any thread.
class OpaqueFormat {
 public:
  virtual ~OpaqueFormat() = default;
  // Equal keys mean equal forms.
  virtual const std::string& key() const = 0;
  // Bytes of a tensor in this form, padding included.
  virtual int64_t byte_size() const = 0;
  // Row-major elements to this form and back; both buffers are in host memory.
  virtual void Pack(const void* plain, void* packed) const = 0;
  virtual void Unpack(const void* packed, void* plain) const = 0;
};

// How the elements of a tensor lie in memory: row-major (the default), or an opaque form.
class Layout {
 public:
  Layout() = default;
  explicit Layout(std::shared_ptr<const OpaqueFormat> format) : format_(std::move(format)) {}

  bool is_plain() const { return format_ == nullptr; }
  const OpaqueFormat* format() const { return format_.get(); }
  // "plain", or the key of the opaque form.
  std::string ToString() const { return is_plain() ? "plain" : format_->key(); }

  friend bool operator==(const Layout& a, const Layout& b) {
    return a.format_ == b.format_ || (a.format_ && b.format_ && a.format_->key() == b.format_->key());
  }

 private:
  std::shared_ptr<const OpaqueFormat> format_;
};

// Everything about a value but its bytes: type, logical shape and layout.
struct TensorDesc {
  DType dtype = DType::kFloat32;
  Shape shape;
  Layout layout;

  int64_t byte_size() const {
    return layout.is_plain() ? shape.num_elements() * static_cast<int64_t>(SizeOf(dtype))
                             : layout.format()->byte_size();
  }
  // "float32[2,3]", with "{key}" behind it for an opaque form.
  std::string ToString() const {
    return std::string(DTypeName(dtype)) + shape.ToString() + (layout.is_plain() ? "" : "{" + layout.ToString() + "}");
  }
  friend bool operator==(const TensorDesc& a, const TensorDesc& b) {
    return a.dtype == b.dtype && a.shape == b.shape && a.layout == b.layout;
  }
};

}  // namespace muster
