#include "base/philox.h"

#include <gtest/gtest.h>

namespace muster {

// Known answer of Philox4x32-10 for all-zero key and counter, from the Random123 distribution's kat_vectors.
TEST(Philox, MatchesTheReferenceVector) {
  const Philox::Block block = Philox(0, 0)(0, 0);
  EXPECT_EQ(block, (Philox::Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

}  // namespace muster
