#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// A file's bytes in memory, read by the system as they are touched. Any number of threads may read. A file that becomes
// shorter meanwhile ends the process (SIGBUS) when its lost bytes are touched, so this is for files that are only ever
// replaced as a whole, by programs that keep to that; is_whole finds the others' doing, but for the moment between it
// and the touch.
class MappedFile {
 public:
  // Throws Error naming the path if it cannot be opened or is no regular file.
  explicit MappedFile(std::string path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {data_, size_}; }
  bool is_whole() const;  // whether the file is still as long as when it was opened; takes less than a microsecond
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int fd_ = -1;
  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace muster
