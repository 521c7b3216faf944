#pragma once

#include <string>
#include <string_view>

#include "data/format/coding.h"
#include "data/format/crc32c.h"
#include "data/format/table_layout.h"

namespace muster::fuzz {

// Puts the checksum right of the block that a handle at the front of "bytes" names, if it lies inside the file.
inline bool PutBlockRight(std::string* file, std::string_view* handle) {
  uint64_t offset = 0, size = 0;
  if (!data::TakeVarint(handle, &offset) || !data::TakeVarint(handle, &size)) return false;
  if (offset > file->size() || size > file->size() || offset + size + data::kBlockTrailerBytes > file->size())
    return false;
  const uint32_t crc = data::MaskCrc(data::Crc32c(std::string_view(*file).substr(offset, size + 1)));
  file->replace(offset + size + 1, sizeof crc, reinterpret_cast<const char*>(&crc), sizeof crc);
  return true;
}

// Of the index block that the footer names, and of the first block, which most inputs have at the beginning.
inline void PutChecksumsRight(std::string* file) {
  if (file->size() < data::kFooterBytes) return;
  const uint64_t magic = data::kTableMagic;
  file->replace(file->size() - sizeof magic, sizeof magic, reinterpret_cast<const char*>(&magic), sizeof magic);
  const std::string footer = file->substr(file->size() - data::kFooterBytes);
  std::string_view rest = footer;
  uint64_t offset = 0, size = 0;
  if (!data::TakeVarint(&rest, &offset) || !data::TakeVarint(&rest, &size)) return;
  // The block of nothing follows the last data block: with one data block it ends where that one's trailer does.
  if (offset >= data::kBlockTrailerBytes && offset <= file->size()) {
    std::string first;
    data::AppendVarint(&first, 0);
    data::AppendVarint(&first, offset - data::kBlockTrailerBytes);
    std::string_view handle = first;
    PutBlockRight(file, &handle);
  }
  PutBlockRight(file, &rest);
}

}  // namespace muster::fuzz
