#include "base/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "base/temporary_name.h"

namespace muster {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

int OpenFlags(OutputFile::Mode mode) {
  switch (mode) {
    case OutputFile::Mode::kNew: return O_EXCL;
    case OutputFile::Mode::kExclusive: return 0;  // emptied once it is ours
    default: return O_TRUNC;
  }
}

// A file system without locks grants every one.
void TakeAlone(int fd, const std::string& path) {
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw FailedPrecondition(fmt::format("{}: another run is writing it; give this one a folder of its own", path));
  if (::ftruncate(fd, 0) != 0) throw FileError("write", path, errno);
}

}  // namespace

OutputFile::OutputFile(std::string path, Mode mode) : path_(std::move(path)), opened_(path_) {
  if (mode == Mode::kPending) opened_ = TemporaryName(path_);
  fd_ = ::open(opened_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | OpenFlags(mode), 0666);
  if (fd_ < 0 && errno == EEXIST) throw Error(Code::kAlreadyExists, fmt::format("{} already exists", path_));
  if (fd_ < 0) throw FileError("write", path_, errno);
  if (mode != Mode::kExclusive) return;
  try {
    TakeAlone(fd_, path_);
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (opened_ != path_) ::unlink(opened_.c_str());
}

void OutputFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw FileError("write", path_, errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void OutputFile::Append(std::string_view bytes) {
  MUSTER_CHECK(fd_ >= 0);
  size_ += static_cast<int64_t>(bytes.size());
  if (buffer_.size() + bytes.size() > kBufferBytes) Flush();
  if (bytes.size() > kBufferBytes) {
    Write(bytes);
  } else {
    buffer_.append(bytes);
  }
}

void OutputFile::Flush() {
  Write(buffer_);
  buffer_.clear();
}

void OutputFile::Sync() {
  Flush();
  if (::fsync(fd_) != 0) throw FileError("write", path_, errno);
}

void OutputFile::Close() {
  Flush();
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) throw FileError("write", path_, errno);
}

void OutputFile::CommitAs(const std::string& path) {
  MUSTER_CHECK(fd_ < 0 && opened_ != path_);
  if (::rename(opened_.c_str(), path.c_str()) != 0) throw FileError("replace", path, errno);
  path_ = opened_ = path;
}

void RemoveAbandonedFiles(const std::string& folder, std::string_view prefix) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && IsAbandoned(entry.path())) std::filesystem::remove(entry.path(), error);
  }
}

}  // namespace muster
