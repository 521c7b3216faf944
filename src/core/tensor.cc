#include "muster/tensor.h"

#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

namespace muster {

// calloc gets large pieces from the system, zeroed: each page is touched first when it gets its values.
std::shared_ptr<Buffer> Buffer::OnHost(size_t bytes) {
  constexpr size_t kAlignment = 64;
  const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment + kAlignment;
  void* const allocated = rounded >= bytes ? std::calloc(1, rounded) : nullptr;
  if (allocated == nullptr) throw OutOfMemory(fmt::format("the host has no {} bytes left", bytes), "");
  const auto address = reinterpret_cast<uintptr_t>(allocated);
  void* const aligned = static_cast<char*>(allocated) + (kAlignment - address % kAlignment);
  return std::make_shared<Buffer>(
      aligned, bytes, [](void*, void* owner) { std::free(owner); }, allocated);
}

Tensor::Tensor(DType dtype, Shape shape)
    : desc_{dtype, shape, {}}, buffer_(Buffer::OnHost(static_cast<size_t>(desc_.byte_size()))) {}

Tensor::Tensor(TensorDesc desc, std::shared_ptr<Buffer> buffer, size_t offset)
    : desc_(std::move(desc)), buffer_(std::move(buffer)), offset_(offset) {}

void Tensor::CheckType(DType asked) const {
  if (is_empty()) throw InvalidArgument("an empty tensor has no data");
  if (asked != desc_.dtype)
    throw InvalidArgument(fmt::format("tensor holds {}, not {}", DTypeName(desc_.dtype), DTypeName(asked)));
  if (!desc_.layout.is_plain()) throw InvalidArgument("tensor is in the opaque form " + desc_.layout.ToString());
}

Tensor Tensor::Clone() const {
  auto buffer = Buffer::OnHost(byte_size());
  std::memcpy(buffer->data(), raw(), byte_size());
  return Tensor(desc_, std::move(buffer));
}

}  // namespace muster
