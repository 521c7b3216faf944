#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/input_file.h"

namespace muster::data {

// One thing found in a TFRecord file: a whole record, or damage.
struct ScannedRecord {
  int64_t number = 0;  // from 0; damage that hides an unknown number of records counts as one
  int64_t offset = 0;
  std::string bytes;   // of a whole record
  std::string damage;  // what is wrong; "" for a whole record
};

// Reads a whole TFRecord file that is not packed, past damage too: after a length that is wrong, the next place is
// searched at which both checksums of a record are right. Unlike RecordReader it needs to move about in the file.
// Throws Error if the file cannot be read.
void ScanRecords(const InputFile& file, const std::function<void(const ScannedRecord&)>& found);

}  // namespace muster::data
