#include "cli/spin_limit.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(RunnableTasks, AreThoseBeforeTheSlash) {
  EXPECT_EQ(RunnableTasks("0.20 0.18 0.12 1/80 11206\n"), 1);
  EXPECT_EQ(RunnableTasks("12.00 9.18 8.12 17/1080 11206"), 17);
}

TEST(RunnableTasks, AreNoneWhereTheFileSaysNothing) {
  for (const char* text : {"", "1.0 2.0", "/", "a/b", "1/80"}) EXPECT_EQ(RunnableTasks(text), 0) << text;
}

}  // namespace
}  // namespace muster::cli
