#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/output_file.h"
#include "data/unpacking_file.h"

namespace muster::data {

class Deflater;

// Writes a TFRecord file (record_reader.h), packed or not. For one thread. Every failure throws Error naming the file.
class RecordWriter {
 public:
  explicit RecordWriter(const std::string& path, Packing packing = Packing::kNone,
                        OutputFile::Mode mode = OutputFile::Mode::kReplace);
  // Ends without a word, perhaps with a file that is not whole; Close says what went wrong.
  ~RecordWriter();

  void Append(std::string_view record);
  // Plain files only: hands what was appended to the system, so that a reader sees it.
  void Flush() { file_.Flush(); }
  void Close();

  OutputFile& file() { return file_; }

 private:
  void Put(std::string_view bytes);

  OutputFile file_;
  std::unique_ptr<Deflater> deflater_;  // null: a plain file
};

}  // namespace muster::data
