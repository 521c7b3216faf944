#pragma once

#include <cstddef>
#include <cstdint>

namespace muster::data {

// Numbers of LevelDB's table format.
inline constexpr uint64_t kTableMagic = 0xdb4775248b80fb57;
inline constexpr size_t kFooterBytes = 48;       // two handles of at most 20 bytes, padding, magic number
inline constexpr size_t kBlockTrailerBytes = 5;  // kind of compression, masked CRC of block and kind
inline constexpr char kPlainBlock = 0;

}  // namespace muster::data
