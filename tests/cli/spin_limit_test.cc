#include "cli/spin_limit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace muster::cli {
namespace {

TEST(RunnableTasks, AreThoseBeforeTheSlash) {
  EXPECT_EQ(RunnableTasks("0.20 0.18 0.12 1/80 11206\n"), 1);
  EXPECT_EQ(RunnableTasks("12.00 9.18 8.12 17/1080 11206"), 17);
}

TEST(RunnableTasks, AreNoneWhereTheFileSaysNothing) {
  for (const char* text : {"", "1.0 2.0", "/", "a/b", "1/80"}) EXPECT_EQ(RunnableTasks(text), 0) << text;
}

// The variables that decide are as if the user had set none, and afterwards as they were.
class SpinLimit : public ::testing::Test {
 protected:
  SpinLimit() {
    for (const char* name : kVariables) {
      const char* value = std::getenv(name);
      before_.push_back(value == nullptr ? std::nullopt : std::optional<std::string>(value));
      unsetenv(name);
    }
  }
  ~SpinLimit() override {
    for (size_t i = 0; i < before_.size(); ++i)
      before_[i] ? setenv(kVariables[i], before_[i]->c_str(), 1) : unsetenv(kVariables[i]);
  }

  // With so many tasks at each look, the last number from then on.
  static bool Wants(const std::vector<int>& tasks) {
    size_t look = 0;
    return WantsSpinLimit(
        [&] { return "0.00 0.00 0.00 " + std::to_string(tasks[std::min(look++, tasks.size() - 1)]) + "/80 11206\n"; });
  }

  static constexpr const char* kVariables[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"};

 private:
  std::vector<std::optional<std::string>> before_;
};

TEST_F(SpinLimit, IsWantedWhereOthersRunMostOfTheTime) {
  EXPECT_TRUE(Wants({2}));
  EXPECT_TRUE(Wants({1, 3, 2, 1, 5}));
  EXPECT_FALSE(Wants({1}));
  EXPECT_FALSE(Wants({2, 2, 1}));
  EXPECT_FALSE(WantsSpinLimit([] { return std::string(); }));
}

TEST_F(SpinLimit, IsNotWantedOverTheUsersOwn) {
  for (const char* name : kVariables) {
    setenv(name, "", 1);
    EXPECT_FALSE(Wants({9})) << name;
    unsetenv(name);
  }
  EXPECT_TRUE(Wants({9}));
}

}  // namespace
}  // namespace muster::cli
