#include "muster/error.h"

#include <gtest/gtest.h>

namespace muster {

TEST(Error, IsOneLineWhateverItsNamesHold) {
  const Error error = InvalidArgument("tensor a\nb\x1b[2J\x7f: is not there").Within("scope\r/c");
  EXPECT_STREQ(error.what(), "tensor a\\nb\\x1b[2J\\x7f: is not there (at scope\\x0d/c)");
  EXPECT_EQ(error.message(), "tensor a\\nb\\x1b[2J\\x7f: is not there");
  EXPECT_EQ(error.context(), "scope\\x0d/c");
}

TEST(Error, KeepsItsTextWhenSeenFromFurtherOut) {
  const Error error = NotFound("größe\n\\").Within("a").Within("b");
  EXPECT_STREQ(error.what(), "größe\\n\\ (at a, b)");
}

}  // namespace muster
