#pragma once

#include "core/device.h"
#include "muster/tensor.h"

namespace muster {

// Bytes between the host and a device, or within one, through the device's streams. These return when the bytes have
// arrived, and throw what the stream failed with.
void CopyFromHost(Device& device, void* to, const void* host, size_t bytes);
void CopyToHost(Device& device, void* host, const void* from, size_t bytes);
void CopyWithin(Device& device, void* to, const void* from, size_t bytes);
// Piece by piece, so that an interrupt ends it.
void ClearOn(Device& device, void* to, size_t bytes);

// A value of a device as a row-major tensor, and the reverse. "desc" says in which form it lies there: opaque forms are
// packed and unpacked in host memory.
Tensor ReadValue(Device& device, const TensorDesc& desc, const void* from);
void WriteValue(Device& device, const TensorDesc& desc, void* to, const Tensor& value);

}  // namespace muster
