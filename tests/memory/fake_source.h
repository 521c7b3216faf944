#pragma once

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "memory/sub_allocator.h"

namespace muster {

// What a FakeSource saw; shared with the test, since the allocator owns the source.
struct SourceLog {
  std::mutex mutex;
  std::vector<size_t> asked;  // sizes of all calls of Alloc, failed ones too
  std::vector<size_t> given;  // sizes of those that succeeded
  std::map<void*, size_t> live;
  bool wrong_free = false;                                          // an address or size that was not given
  bool can_reserve = false;                                         // whether regions can grow in place
  std::vector<size_t> grown;                                        // by how much
  std::function<bool(size_t)> fail = [](size_t) { return false; };  // by size: whether to refuse
};

// A sub-allocator over the heap that refuses when it is told to.
class FakeSource final : public SubAllocator {
 public:
  explicit FakeSource(std::shared_ptr<SourceLog> log) : log_(std::move(log)) {}

  void* Alloc(size_t bytes) override {
    const std::lock_guard<std::mutex> lock(log_->mutex);
    log_->asked.push_back(bytes);
    if (log_->fail(bytes)) return nullptr;
    void* data = std::aligned_alloc(256, bytes);
    log_->given.push_back(bytes);
    log_->live[data] = bytes;
    return data;
  }

  void* Reserve(size_t most) override {
    const std::lock_guard<std::mutex> lock(log_->mutex);
    if (!log_->can_reserve) return nullptr;
    void* data = std::aligned_alloc(256, most);
    log_->live[data] = most;
    return data;
  }

  bool Grow(void* data, size_t bytes, size_t more) override {
    const std::lock_guard<std::mutex> lock(log_->mutex);
    if (log_->fail(more) || bytes + more > log_->live.at(data)) return false;
    log_->grown.push_back(more);
    return true;
  }

  void Free(void* data, size_t bytes) override {
    const std::lock_guard<std::mutex> lock(log_->mutex);
    const auto found = log_->live.find(data);
    if (found == log_->live.end() || found->second != bytes) {
      log_->wrong_free = true;
      return;
    }
    log_->live.erase(found);
    std::free(data);
  }

 private:
  std::shared_ptr<SourceLog> log_;
};

}  // namespace muster
