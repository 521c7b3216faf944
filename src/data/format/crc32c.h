#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster::data {

// CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), as iSCSI (RFC 3720) and TensorFlow's files use it. With the
// processor's instruction where it has one.
uint32_t ExtendCrc32c(uint32_t crc, const void* bytes, size_t size);  // of what "crc" is of, followed by these bytes
inline uint32_t Crc32c(std::string_view bytes) { return ExtendCrc32c(0, bytes.data(), bytes.size()); }

// The form that is stored: a CRC of bytes that hold their own CRC would be weak. Rotated right by 15, plus a constant.
constexpr uint32_t MaskCrc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

// The same result without the instruction; for tests.
uint32_t ExtendCrc32cPortable(uint32_t crc, const void* bytes, size_t size);

}  // namespace muster::data
