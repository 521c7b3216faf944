#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "muster/error.h"

namespace muster {
namespace {

Error FileError(const std::string& doing, const std::string& path, int error) {
  Code code = Code::kUnknown;
  if (error == ENOENT || error == ENOTDIR) code = Code::kNotFound;
  if (error == EACCES || error == EPERM || error == EROFS) code = Code::kPermissionDenied;
  if (error == ENOSPC || error == EDQUOT || error == EMFILE || error == ENFILE) code = Code::kResourceExhausted;
  if (error == EISDIR || error == ENAMETOOLONG || error == ELOOP) code = Code::kInvalidArgument;
  return Error(code, fmt::format("cannot {} {}: {}", doing, path, std::strerror(error)));
}

// Closes the descriptor on the way out; Close() says whether that worked (a full disk may only show there).
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  bool Close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

int OpenOrThrow(const std::string& path, int flags, const std::string& doing) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (fd < 0) throw FileError(doing, path, errno);
  return fd;
}

void WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw FileError("write", path, errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Beside the target, so that the rename stays within one file system; the process id keeps writers apart.
std::string TemporaryName(const std::string& path) { return fmt::format("{}.tmp{}", path, ::getpid()); }

// Makes the rename itself durable. Some file systems cannot sync a folder (EINVAL); that is no reason to fail.
void SyncFolder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  Descriptor descriptor(fd);
  ::fsync(fd);
}

}  // namespace

std::string ReadFile(const std::string& path) {
  Descriptor file(OpenOrThrow(path, O_RDONLY, "open"));
  std::string bytes;
  char block[65536];
  while (true) {
    const ssize_t got = ::read(file.get(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw FileError("read", path, errno);
    if (got == 0) return bytes;
    bytes.append(block, static_cast<size_t>(got));
  }
}

void WriteFileAtomically(const std::string& path, std::string_view bytes) {
  const std::string temporary = TemporaryName(path);
  try {
    Descriptor file(OpenOrThrow(temporary, O_WRONLY | O_CREAT | O_TRUNC, "create"));
    WriteAll(file.get(), bytes, temporary);
    if (::fsync(file.get()) != 0) throw FileError("sync", temporary, errno);
    if (!file.Close()) throw FileError("close", temporary, errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) throw FileError("replace", path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  SyncFolder(FolderOf(path));
}

void AppendToFile(const std::string& path, std::string_view bytes) {
  Descriptor file(OpenOrThrow(path, O_WRONLY | O_CREAT | O_APPEND, "open"));
  WriteAll(file.get(), bytes, path);
  if (!file.Close()) throw FileError("close", path, errno);
}

void CheckWritable(const std::string& path) {
  if (path.empty()) throw InvalidArgument("cannot write to a file without a name");
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) throw FileError("write", path, EISDIR);
  const std::string probe = TemporaryName(path);
  const int fd = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) throw FileError("write", path, errno);
  ::close(fd);
  ::unlink(probe.c_str());
}

void CreateWritableFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  // create_directories also fails where a file is in the way; a folder that exists is fine.
  if (!std::filesystem::is_directory(folder)) {
    throw FileError("create folder", folder, error ? error.value() : ENOTDIR);
  }
  const std::string probe = fmt::format("{}/.muster_probe{}", folder, ::getpid());
  const int fd = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) throw FileError("write into folder", folder, errno);
  ::close(fd);
  ::unlink(probe.c_str());
}

}  // namespace muster
