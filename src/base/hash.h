#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace muster {

// A 64-bit hash that is the same in every process, build and release: for fingerprints that are stored or compared
// between tasks. Not for secrets. What goes in is separated by length, so that "ab","c" and "a","bc" differ.
class StableHash {
 public:
  void Add(uint64_t word) { state_ = Mix((state_ ^ word) + 0x9E3779B97F4A7C15); }
  void Add(std::string_view text) { AddBytes(text.data(), text.size()); }

  void AddBytes(const void* data, size_t size) {
    const char* bytes = static_cast<const char*>(data);
    Add(size);
    for (; size >= 8; bytes += 8, size -= 8) Add(Word(bytes, 8));
    if (size > 0) Add(Word(bytes, size));
  }

  uint64_t value() const { return state_; }

 private:
  // Muster runs on little-endian machines only; there, this is the same everywhere.
  static uint64_t Word(const char* bytes, size_t size) {
    uint64_t word = 0;
    std::memcpy(&word, bytes, size);
    return word;
  }
  // A bijection in which each input bit reaches every output bit: the finaliser of SplitMix64 (Steele, Lea, Flood,
  // 2014).
  static constexpr uint64_t Mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  uint64_t state_ = 0;
};

}  // namespace muster
