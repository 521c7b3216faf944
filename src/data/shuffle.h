#pragma once

#include <cstdint>

#include "base/philox.h"

namespace muster::data {

// A pseudo-random permutation of 0 .. size-1 for each (seed, epoch) that is computed element by element, without
// memory: any thread can ask for any position. It is a Feistel network over pairs (J. Black, P. Rogaway, "Ciphers with
// arbitrary finite domains", CT-RSA 2002) with Philox as the round function; values outside the range walk on until
// they are inside.
class Permutation {
 public:
  Permutation(uint64_t seed, uint64_t epoch, int64_t size);

  // The sample at "position" of the epoch.
  int64_t operator()(int64_t position) const;

 private:
  uint64_t Encrypt(uint64_t value) const;

  Philox random_;
  uint64_t epoch_;
  uint64_t size_;
  uint64_t left_size_;  // the domain is left_size_ x right_size_, barely larger than size_
  uint64_t right_size_;
};

}  // namespace muster::data
