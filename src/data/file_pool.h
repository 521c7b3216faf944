#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/input_file.h"
#include "base/mutex.h"

namespace muster::data {

// Many files that are read at random, of which only so many are open at a time: a data set may have more files than a
// process may open. Any number of threads may call Open.
class FilePool {
 public:
  static constexpr size_t kMaxOpen = 256;
  explicit FilePool(std::vector<std::filesystem::path> paths, size_t max_open = kMaxOpen);

  size_t size() const { return paths_.size(); }
  const std::filesystem::path& path(size_t file) const { return paths_[file]; }

  // The file, opened if it is not. It stays open for as long as the caller holds it. Throws what InputFile throws.
  std::shared_ptr<const InputFile> Open(size_t file);

 private:
  std::vector<std::filesystem::path> paths_;
  Mutex mutex_;
  std::vector<std::shared_ptr<const InputFile>> open_ MUSTER_GUARDED_BY(mutex_);  // null: closed
  std::vector<size_t> order_
      MUSTER_GUARDED_BY(mutex_);  // the open ones: a ring in which the next to be closed is at oldest_
  size_t oldest_ MUSTER_GUARDED_BY(mutex_) = 0;
  size_t max_open_;
};

}  // namespace muster::data
