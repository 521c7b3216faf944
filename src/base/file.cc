#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/temporary_name.h"
#include "muster/error.h"

namespace muster {

Error FileError(const std::string& doing, const std::string& path, int error) {
  Code code = Code::kUnknown;
  if (error == ENOENT || error == ENOTDIR) code = Code::kNotFound;
  if (error == EACCES || error == EPERM || error == EROFS) code = Code::kPermissionDenied;
  if (error == ENOSPC || error == EDQUOT || error == EFBIG || error == EMFILE || error == ENFILE)
    code = Code::kResourceExhausted;
  if (error == EISDIR || error == ENAMETOOLONG || error == ELOOP) code = Code::kInvalidArgument;
  return Error(code, fmt::format("cannot {} {}: {}", doing, path, std::strerror(error)));
}

// Some file systems cannot sync a folder (EINVAL); that is no reason to fail.
void SyncFolder(const std::string& folder) {
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

namespace {

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

// The file that "path" leads to; a rename over a symbolic link would replace the link. The file need not exist yet.
std::string BehindLinks(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel
  std::filesystem::path target = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(target, error); ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(target, error);
    if (error) break;
    target = target.parent_path() / next;  // an absolute "next" replaces all
  }
  return target.string();
}

// Nothing: there is no such file yet.
std::optional<struct stat> StatusOf(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return status;
  if (errno == ELOOP) throw FileError("write", path, ELOOP);  // a link that leads to itself: there is no end to replace
  return std::nullopt;
}

// A stream that was closed may stand for a file that is open for reading only (see OpenStandardFiles in cli/main.cc).
bool IsWritable(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

// The descriptor when the file is what standard output or error already writes to (/dev/stdout of a redirected
// program): replacing it would cut off what they write.
std::optional<int> StandardStreamOf(const std::optional<struct stat>& status) {
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat stream {};
    if (status && IsWritable(fd) && ::fstat(fd, &stream) == 0 && stream.st_dev == status->st_dev &&
        stream.st_ino == status->st_ino)
      return fd;
  }
  return std::nullopt;
}

// Devices and pipes take the bytes as they come; there is nothing to replace.
void WriteThrough(const std::string& path, std::string_view bytes) {
  Descriptor file(OpenOrThrow(path, O_WRONLY, "write"));
  WriteAll(file.get(), bytes, path);
  if (!file.Close()) throw FileError("write", path, errno);
}

// Errors name the file that was asked for, never the temporary one.
void Replace(const std::string& asked, const std::string& target, const std::optional<struct stat>& old,
             std::string_view bytes) {
  const std::string temporary = TemporaryName(target);
  try {
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) throw FileError("write", asked, errno);
    Descriptor file(fd);
    if (old) ::fchmod(fd, old->st_mode & 07777);  // the new file lets the same people read it
    WriteAll(fd, bytes, asked);
    if (::fsync(fd) != 0 || !file.Close()) throw FileError("write", asked, errno);
    if (::rename(temporary.c_str(), target.c_str()) != 0) throw FileError("replace", asked, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  SyncFolder(FolderOf(target));
}

// Creates what is missing of the folder and its parents; "created" gets the new ones, outermost first, also when it
// fails. Returns 0 or the reason.
int CreateFolders(const std::filesystem::path& folder, std::vector<std::filesystem::path>& created) {
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return 0;
  const std::filesystem::path parent =
      folder.has_filename() ? folder.parent_path() : folder.parent_path().parent_path();
  if (!parent.empty() && parent != folder) {
    if (const int reason = CreateFolders(parent, created); reason != 0) return reason;
  }
  if (::mkdir(folder.c_str(), 0777) == 0) {
    created.push_back(folder);
    return 0;
  }
  const int reason = errno;
  if (std::filesystem::is_directory(folder, error)) return 0;  // somebody else was faster
  return reason == EEXIST ? ENOTDIR : reason;
}

void RemoveFolders(const std::vector<std::filesystem::path>& created) {
  for (auto folder = created.rbegin(); folder != created.rend(); ++folder) ::rmdir(folder->c_str());
}

void ProbeFolder(const std::string& folder) {
  const std::string probe = fmt::format("{}/.muster_probe{}", folder, ::getpid());
  const int fd = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) throw FileError("write into folder", folder, errno);
  ::close(fd);
  ::unlink(probe.c_str());
}

// Creates and probes; what was created goes again when that fails, or when the folder is not to be kept.
void MakeFolder(const std::string& folder, bool keep) {
  if (folder.empty()) throw InvalidArgument("cannot create a folder without a name");
  std::vector<std::filesystem::path> created;
  try {
    if (const int reason = CreateFolders(folder, created); reason != 0)
      throw FileError("create folder", folder, reason);
    ProbeFolder(folder);
  } catch (...) {
    RemoveFolders(created);
    throw;
  }
  if (!keep) RemoveFolders(created);
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
  const std::optional<struct stat> status = StatusOf(path);
  if (status && S_ISDIR(status->st_mode)) throw FileError("write", path, EISDIR);
  if (const std::optional<int> stream = StandardStreamOf(status)) {
    std::fflush(nullptr);
    WriteAll(*stream, bytes, path);
    return;
  }
  if (status && !S_ISREG(status->st_mode)) {
    WriteThrough(path, bytes);
  } else {
    Replace(path, BehindLinks(path), status, bytes);
  }
}

bool IsStandardStream(const std::string& path) { return StandardStreamOf(StatusOf(path)).has_value(); }

void AppendToFile(const std::string& path, std::string_view bytes) {
  Descriptor file(OpenOrThrow(path, O_WRONLY | O_CREAT | O_APPEND, "open"));
  WriteAll(file.get(), bytes, path);
  if (!file.Close()) throw FileError("close", path, errno);
}

void CheckWritable(const std::string& path) {
  if (path.empty()) throw InvalidArgument("cannot write to a file without a name");
  const std::optional<struct stat> status = StatusOf(path);
  if (status && S_ISDIR(status->st_mode)) throw FileError("write", path, EISDIR);
  if (StandardStreamOf(status)) return;
  if (status && !S_ISREG(status->st_mode)) {
    if (::access(path.c_str(), W_OK) != 0) throw FileError("write", path, errno);
    return;
  }
  const std::string probe = TemporaryName(BehindLinks(path));
  const int fd = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) throw FileError("write", path, errno);
  ::close(fd);
  ::unlink(probe.c_str());
}

void CheckFolder(const std::string& folder) { MakeFolder(folder, false); }

void CreateWritableFolder(const std::string& folder) { MakeFolder(folder, true); }

}  // namespace muster
