#pragma once

#include <cstddef>
#include <cstdint>

#include "data/format/coding.h"
#include "data/format/crc32c.h"

namespace muster::data {

// In front of each record: its length and the checksum of that.
inline constexpr size_t kRecordHeaderBytes = 12;

inline bool HeaderIsRight(const char* header) {
  return LoadFixed<uint32_t>(header + sizeof(uint64_t)) == MaskCrc(Crc32c({header, sizeof(uint64_t)}));
}

}  // namespace muster::data
