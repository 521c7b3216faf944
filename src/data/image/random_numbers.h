#pragma once

#include <cstdint>

#include "base/philox.h"

namespace muster::data {

// The random numbers of one image in one epoch, one after the other: a function of (seed, what they are for, epoch,
// image).
class RandomNumbers {
 public:
  RandomNumbers(const Philox& stream, uint64_t epoch, uint64_t image)
      : stream_(stream), epoch_(epoch), block_(image << kBlocksLog) {}

  uint32_t Word() {
    if (used_ == words_.size()) {
      words_ = stream_(epoch_, block_++);
      used_ = 0;
    }
    return words_[used_++];
  }
  // In [low, high).
  float Uniform(float low, float high) { return low + (high - low) * UniformFloat(Word()); }
  // In low .. high - 1.
  int UniformInt(int low, int high) {
    return low + static_cast<int>(static_cast<uint64_t>(Word()) * static_cast<uint64_t>(high - low) >> 32);
  }
  bool Coin() { return Word() >> 31 != 0; }

 private:
  static constexpr int kBlocksLog = 12;  // room for 2^14 words before the next image's begin

  const Philox& stream_;
  uint64_t epoch_;
  uint64_t block_;
  Philox::Block words_{};
  size_t used_ = 4;
};

}  // namespace muster::data
