#include "data/format/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace muster::data {
namespace {

// table[k][b]: the CRC of byte b followed by k zero bytes, so that eight bytes take eight look-ups.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    tables[0][b] = crc;
  }
  for (size_t k = 1; k < 8; ++k)
    for (size_t b = 0; b < 256; ++b) tables[k][b] = (tables[k - 1][b] >> 8) ^ tables[0][tables[k - 1][b] & 0xff];
  return tables;
}

constexpr Tables kTables = MakeTables();

uint64_t LoadWord(const uint8_t* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t ExtendWithInstruction(uint32_t crc, const uint8_t* p, size_t size) {
  uint64_t state = ~crc;
  for (; size >= 8; p += 8, size -= 8) state = _mm_crc32_u64(state, LoadWord(p));
  uint32_t narrow = static_cast<uint32_t>(state);
  for (; size > 0; ++p, --size) narrow = _mm_crc32_u8(narrow, *p);
  return ~narrow;
}
#endif

}  // namespace

uint32_t ExtendCrc32cPortable(uint32_t crc, const void* bytes, size_t size) {
  const auto* p = static_cast<const uint8_t*>(bytes);
  uint32_t state = ~crc;
  for (; size >= 8; p += 8, size -= 8) {
    const uint64_t word = LoadWord(p) ^ state;
    state = 0;
    for (size_t k = 0; k < 8; ++k) state ^= kTables[7 - k][(word >> (8 * k)) & 0xff];
  }
  for (; size > 0; ++p, --size) state = (state >> 8) ^ kTables[0][(state ^ *p) & 0xff];
  return ~state;
}

uint32_t ExtendCrc32c(uint32_t crc, const void* bytes, size_t size) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ExtendWithInstruction(crc, static_cast<const uint8_t*>(bytes), size);
#endif
  return ExtendCrc32cPortable(crc, bytes, size);
}

}  // namespace muster::data
