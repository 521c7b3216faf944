#include "base/printable.h"

#include <gtest/gtest.h>

namespace muster {

TEST(Printable, SpellsControlCharactersAndNothingElse) {
  EXPECT_EQ(Printable(std::string_view("a\nb\r\x1b[2J\x7f\0c", 11)), "a\\nb\\x0d\\x1b[2J\\x7f\\x00c");
  EXPECT_EQ(Printable("größe \\n ~"), "größe \\n ~");
  EXPECT_EQ(Printable(""), "");
}

}  // namespace muster
