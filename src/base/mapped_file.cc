#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"

namespace muster {
namespace {

// Maps an open file; closes it before it throws.
const char* Map(int fd, const std::string& path, size_t* size) {
  struct stat status {};
  const bool is_regular = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  *size = is_regular ? static_cast<size_t>(status.st_size) : 0;
  void* data = *size == 0 ? nullptr : ::mmap(nullptr, *size, PROT_READ, MAP_SHARED, fd, 0);  // nothing cannot be mapped
  const int error = errno;
  if (!is_regular || data == MAP_FAILED) ::close(fd);
  if (!is_regular) throw InvalidArgument(fmt::format("{}: is not a regular file", path));
  if (data == MAP_FAILED) throw FileError("map", path, error);
  return static_cast<const char*>(data);
}

}  // namespace

MappedFile::MappedFile(std::string path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) throw FileError("open", path_, errno);
  data_ = Map(fd_, path_, &size_);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
  ::close(fd_);
}

bool MappedFile::is_whole() const {
  struct stat status {};
  return ::fstat(fd_, &status) == 0 && static_cast<size_t>(status.st_size) >= size_;
}

}  // namespace muster
