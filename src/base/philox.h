#pragma once

#include <array>
#include <cstdint>

namespace muster {

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a counter-based generator, so
// that number i of a stream is a pure function of (key, counter) and does not depend on threads, devices or order.
class Philox {
 public:
  using Block = std::array<uint32_t, 4>;

  // A stream is named by (seed, name hash); "step" and the element's block number form the counter.
  constexpr Philox(uint64_t seed, uint64_t stream)
      : key_{static_cast<uint32_t>(seed) ^ static_cast<uint32_t>(stream >> 32),
             static_cast<uint32_t>(seed >> 32) ^ static_cast<uint32_t>(stream)} {}

  constexpr const std::array<uint32_t, 2>& key() const { return key_; }

  // Four random words for (step, block).
  constexpr Block operator()(uint64_t step, uint64_t block) const {
    Block c{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), static_cast<uint32_t>(step),
            static_cast<uint32_t>(step >> 32)};
    uint32_t k0 = key_[0], k1 = key_[1];
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53} * c[0];
      const uint64_t p1 = uint64_t{0xCD9E8D57} * c[2];
      c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
           static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    return c;
  }

 private:
  std::array<uint32_t, 2> key_;
};

// Uniform in [0, 1) with 24 (float) or 53 (double) random bits.
inline float UniformFloat(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }
inline double UniformDouble(uint32_t high, uint32_t low) {
  return static_cast<double>(((uint64_t{high} << 32) | low) >> 11) * 0x1p-53;
}

// FNV-1a, the hash that names a stream after its node.
constexpr uint64_t HashName(const char* data, uint64_t size) {
  uint64_t hash = 0xCBF29CE484222325;
  for (uint64_t i = 0; i < size; ++i) hash = (hash ^ static_cast<unsigned char>(data[i])) * 0x100000001B3;
  return hash;
}

}  // namespace muster
