#include "plan/bucket_format.h"

#include <cstring>

#include "plan/variable_table.h"

namespace muster {

BucketFormat::BucketFormat(std::vector<TensorDesc> parts) : parts_(std::move(parts)), key_("bucket(") {
  for (const TensorDesc& part : parts_) {
    offsets_.push_back(byte_size_);
    byte_size_ += AlignUp(part.byte_size());
    key_ += (key_.back() == '(' ? "" : ",") + part.ToString();
  }
  key_ += ")";
}

void BucketFormat::Pack(const void* plain, void* packed) const {
  const char* from = static_cast<const char*>(plain);
  char* const to = static_cast<char*>(packed);
  std::memset(to, 0, static_cast<size_t>(byte_size_));
  for (size_t i = 0; i < parts_.size(); ++i) {
    const size_t bytes = static_cast<size_t>(parts_[i].shape.num_elements()) * SizeOf(parts_[i].dtype);
    if (parts_[i].layout.is_plain()) std::memcpy(to + offsets_[i], from, bytes);
    else parts_[i].layout.format()->Pack(from, to + offsets_[i]);
    from += bytes;
  }
}

void BucketFormat::Unpack(const void* packed, void* plain) const {
  const char* const from = static_cast<const char*>(packed);
  char* to = static_cast<char*>(plain);
  for (size_t i = 0; i < parts_.size(); ++i) {
    const size_t bytes = static_cast<size_t>(parts_[i].shape.num_elements()) * SizeOf(parts_[i].dtype);
    if (parts_[i].layout.is_plain()) std::memcpy(to, from + offsets_[i], bytes);
    else parts_[i].layout.format()->Unpack(from + offsets_[i], to);
    to += bytes;
  }
}

const BucketFormat* BucketFormatOf(const Layout& layout) { return dynamic_cast<const BucketFormat*>(layout.format()); }

}  // namespace muster
