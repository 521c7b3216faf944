#include "data/shuffle.h"

#include <cmath>
#include <string_view>

#include "base/check.h"

namespace muster::data {
namespace {

constexpr std::string_view kStream = "data/shuffle";
constexpr uint64_t kRounds = 8;  // even, so that left and right end where they began

}  // namespace

Permutation::Permutation(uint64_t seed, uint64_t epoch, int64_t size)
    : random_(seed, HashName(kStream.data(), kStream.size())), epoch_(epoch), size_(static_cast<uint64_t>(size)) {
  MUSTER_CHECK(size > 0 && size <= int64_t{1} << 48);
  left_size_ = static_cast<uint64_t>(std::ceil(std::sqrt(static_cast<double>(size_))));
  right_size_ = (size_ + left_size_ - 1) / left_size_;
}

int64_t Permutation::operator()(int64_t position) const {
  uint64_t value = static_cast<uint64_t>(position);
  do {
    value = Encrypt(value);
  } while (value >= size_);
  return static_cast<int64_t>(value);
}

uint64_t Permutation::Encrypt(uint64_t value) const {
  uint64_t left = value % left_size_;
  uint64_t right = value / left_size_;
  for (uint64_t round = 0; round < kRounds; ++round) {
    // The round number takes the high bits of the counter; a half never has more than 25.
    const Philox::Block words = random_(epoch_, round << 32 | right);
    const uint64_t noise = uint64_t{words[0]} << 32 | words[1];
    const uint64_t modulus = round % 2 == 0 ? left_size_ : right_size_;
    const uint64_t mixed = (left + noise % modulus) % modulus;
    left = right;
    right = mixed;
  }
  return left + right * left_size_;
}

}  // namespace muster::data
