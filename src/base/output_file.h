#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// A file that is written piece by piece, through a buffer. For one thread. Every failure throws Error naming the path
// and the system's reason; a full disk may show as late as in Close.
class OutputFile {
 public:
  enum class Mode {
    kReplace,    // an existing file is emptied
    kExclusive,  // so, too, but FailedPrecondition while another such OutputFile, of any process, has it open
    kNew,        // AlreadyExists if there is one
    kPending,    // written under a temporary name; appears as "path", whole and synced, with Commit
  };

  explicit OutputFile(std::string path, Mode mode = Mode::kReplace);
  // Closes without a word; a pending file that was not committed is removed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void Append(std::string_view bytes);
  // Hands the buffer to the system, so that other processes see it.
  void Flush();
  // Flush, and wait until the bytes are on the disk.
  void Sync();
  void Close();
  // For kPending: Sync and Close must have been called. Renames, CommitAs to another name than was planned; the folder
  // must be synced by the caller (SyncFolder), who may have several files to commit.
  void Commit() { CommitAs(path_); }
  void CommitAs(const std::string& path);

  // Bytes appended.
  int64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  void Write(std::string_view bytes);

  std::string path_;
  std::string opened_;  // the name on disk until Commit
  std::string buffer_;
  int fd_ = -1;
  int64_t size_ = 0;
};

// Removes temporary files in a folder that processes which no longer run have left (IsAbandoned) of kPending files
// whose name begins with "prefix".
void RemoveAbandonedFiles(const std::string& folder, std::string_view prefix);

}  // namespace muster
