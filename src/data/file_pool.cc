#include "data/file_pool.h"

#include <utility>

#include "base/check.h"

namespace muster::data {

FilePool::FilePool(std::vector<std::filesystem::path> paths, size_t max_open)
    : paths_(std::move(paths)), open_(paths_.size()), max_open_(max_open) {
  MUSTER_CHECK(max_open_ > 0);
}

std::shared_ptr<const InputFile> FilePool::Open(size_t file) {
  MutexLock lock(mutex_);
  if (open_[file] != nullptr) return open_[file];
  auto opened = std::make_shared<const InputFile>(paths_[file].string());
  if (order_.size() < max_open_) {
    order_.push_back(file);
  } else {
    open_[order_[oldest_]] = nullptr;
    order_[oldest_] = file;
    oldest_ = (oldest_ + 1) % max_open_;
  }
  open_[file] = opened;
  return opened;
}

}  // namespace muster::data
