#pragma once

#include <memory>
#include <string>
#include <vector>

#include "muster/tensor.h"

namespace muster {

// The form of a bucket that is passed on whole: each tensor in the form in which its maker leaves it and its update
// takes it, one behind the other, each on an aligned offset. What lies between them is zero, and stays so under
// element-wise work.
class BucketFormat final : public OpaqueFormat {
 public:
  // "parts": at least one, of one dtype.
  explicit BucketFormat(std::vector<TensorDesc> parts);

  const std::string& key() const override { return key_; }
  int64_t byte_size() const override { return byte_size_; }
  void Pack(const void* plain, void* packed) const override;
  void Unpack(const void* packed, void* plain) const override;

  const std::vector<TensorDesc>& parts() const { return parts_; }
  // In bytes from the start of the bucket, by part.
  int64_t offset(size_t part) const { return offsets_[part]; }

 private:
  std::vector<TensorDesc> parts_;
  std::vector<int64_t> offsets_;
  int64_t byte_size_ = 0;
  std::string key_;
};

// The bucket behind a layout; nullptr if it is of another form.
const BucketFormat* BucketFormatOf(const Layout& layout);

}  // namespace muster
