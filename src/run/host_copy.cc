#include "run/host_copy.h"

#include <algorithm>
#include <vector>

#include "base/interrupt.h"

namespace muster {

void CopyFromHost(Device& device, void* to, const void* host, size_t bytes) {
  Stream* const stream = device.stream(StreamKind::kCopyIn);
  stream->Copy(to, host, bytes);
  stream->Synchronize();
}

void CopyToHost(Device& device, void* host, const void* from, size_t bytes) {
  Stream* const stream = device.stream(StreamKind::kCopyOut);
  stream->Copy(host, from, bytes);
  stream->Synchronize();
}

void CopyWithin(Device& device, void* to, const void* from, size_t bytes) {
  Stream* const stream = device.stream(StreamKind::kCompute);
  stream->Copy(to, from, bytes);
  stream->Synchronize();
}

void ClearOn(Device& device, void* to, size_t bytes) {
  constexpr size_t kAtOnce = size_t{64} << 20;  // fresh memory of the host may take 50 ms for so much
  Stream* const stream = device.stream(StreamKind::kCompute);
  for (size_t at = 0; at < bytes; at += kAtOnce) {
    ThrowIfInterrupted();
    stream->Clear(static_cast<char*>(to) + at, std::min(kAtOnce, bytes - at));
    stream->Synchronize();
  }
}

Tensor ReadValue(Device& device, const TensorDesc& desc, const void* from) {
  Tensor value(desc.dtype, desc.shape);
  if (desc.layout.is_plain()) {
    CopyToHost(device, value.raw(), from, value.byte_size());
    return value;
  }
  if (!device.is_asynchronous()) {  // its memory is the host's: a snapshot of large weights need not take them twice
    desc.layout.format()->Unpack(from, value.raw());
    return value;
  }
  std::vector<std::byte> packed(static_cast<size_t>(desc.byte_size()));
  CopyToHost(device, packed.data(), from, packed.size());
  desc.layout.format()->Unpack(packed.data(), value.raw());
  return value;
}

void WriteValue(Device& device, const TensorDesc& desc, void* to, const Tensor& value) {
  if (desc.layout.is_plain()) return CopyFromHost(device, to, value.raw(), value.byte_size());
  std::vector<std::byte> packed(static_cast<size_t>(desc.byte_size()));
  desc.layout.format()->Pack(value.raw(), packed.data());
  CopyFromHost(device, to, packed.data(), packed.size());
}

}  // namespace muster
