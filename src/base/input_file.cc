#include "base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "base/file.h"

namespace muster {

// O_NONBLOCK: a named pipe without a writer must not make us wait.
InputFile::InputFile(std::string path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) throw FileError("open", path_, errno);
  struct stat status {};
  const bool is_regular = ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
  if (!is_regular) {
    ::close(fd_);
    throw InvalidArgument(fmt::format("{}: is not a regular file", path_));
  }
  size_ = status.st_size;
}

InputFile::~InputFile() { ::close(fd_); }

size_t InputFile::ReadAt(int64_t offset, std::span<char> out) const {
  size_t filled = 0;
  while (filled < out.size()) {
    const ssize_t got = ::pread(fd_, out.data() + filled, out.size() - filled, offset + static_cast<int64_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw FileError("read", path_, errno);
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  return filled;
}

}  // namespace muster
