#pragma once

#include <cstddef>

namespace muster::roofline {

// Memory from the system in transparent huge pages, zeroed; returned on destruction. One owner, any thread.
class HugeBuffer {
 public:
  // Throws Error (ResourceExhausted) naming the size.
  explicit HugeBuffer(size_t bytes);
  ~HugeBuffer();
  HugeBuffer(HugeBuffer&& other) noexcept;
  HugeBuffer& operator=(HugeBuffer&&) = delete;

  void* data() const { return data_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_;
  size_t bytes_;
};

// Bytes per second that all OpenMP threads together move in a = b + s * c over arrays much larger than the caches: the
// best of "repetitions" passes, with ordinary or with streaming stores, whichever is faster here. Counts the two reads
// and the one write that the loop asks for.
double MeasureBandwidth(int repetitions);

}  // namespace muster::roofline
