#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace muster {

// A file that is read in any order. Any number of threads may read. Every failure throws Error naming the path.
class InputFile {
 public:
  // NotFound if there is none; InvalidArgument for a folder or what else is no regular file.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Fills "out" from a position. Returns how much was filled: less than asked only where the file ends.
  size_t ReadAt(int64_t offset, std::span<char> out) const;

  int64_t size() const { return size_; }  // when it was opened
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int fd_ = -1;
  int64_t size_ = 0;
};

}  // namespace muster
