#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace muster::data {

// How TensorFlow's files write numbers: little-endian, or as varints (seven bits a byte, the lowest first, the high bit
// set in all but the last). Muster runs on little-endian machines only.

inline void AppendFixed32(std::string* out, uint32_t value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}
inline void AppendFixed64(std::string* out, uint64_t value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}
void AppendVarint(std::string* out, uint64_t value);

template <typename T>
T LoadFixed(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// Takes a varint, or "size" bytes, from the front of "bytes". False, with "bytes" in no particular state, if there are
// too few or the varint has more than 64 bits.
[[nodiscard]] bool TakeVarint(std::string_view* bytes, uint64_t* value);
[[nodiscard]] bool TakeBytes(std::string_view* bytes, uint64_t size, std::string_view* taken);

}  // namespace muster::data
