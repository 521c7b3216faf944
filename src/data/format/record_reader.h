#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "data/unpacking_file.h"

namespace muster::data {

// Reads a TFRecord file: for each record its length (8 bytes), the masked CRC-32C of those, the bytes, their masked
// CRC-32C. Files packed as a whole with gzip or zlib are recognised by their content: one that only begins like them
// and cannot be unpacked is plain. For one thread.
class RecordReader {
 public:
  // Throws NotFound or InvalidArgument as UnpackingFile does.
  explicit RecordReader(std::filesystem::path path);

  // Reads the next record; false at the end of the file. Throws DataLoss naming file, record and byte: after a wrong
  // checksum of the record's bytes the reader stands behind that record and may go on; after any other error it may not
  // (is_lost()).
  bool Next(std::string* record);

  // From now on "admits" is asked about each record's bytes as soon as its length is known, before memory is taken for
  // them. If it says no, Next throws ResourceExhausted naming file, record and byte, and the reader is lost.
  void set_admission(std::function<bool(uint64_t bytes)> admits) { admits_ = std::move(admits); }

  // Of the record that Next read or failed at: its number, from 0, and where it begins (of the unpacked content).
  int64_t index() const { return index_; }
  int64_t offset() const { return offset_; }
  // Where the last Next stopped reading.
  int64_t end_offset() const { return file_.offset(); }
  // Nothing more can be read, because the place where the next record begins is not known.
  bool is_lost() const { return is_lost_; }
  bool is_packed() const { return file_.is_packed(); }
  const std::filesystem::path& path() const { return file_.path(); }

 private:
  size_t Fill(char* out, size_t size);
  [[noreturn]] void Lose(const std::string& what);
  std::string Where() const;

  UnpackingFile file_;
  int64_t index_ = -1;
  int64_t offset_ = 0;
  bool is_lost_ = false;
  std::function<bool(uint64_t)> admits_;  // none: every record
};

}  // namespace muster::data
