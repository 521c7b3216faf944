#include "cli/auto_batch.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using Words = std::vector<std::string>;

TEST(AutoBatch, TheWordIsTakenOutInAllItsForms) {
  for (Words words : {Words{"--model=lenet", "--batch_size=auto"}, Words{"--batch_size", "auto", "--model=lenet"},
                      Words{"-batch_size=auto", "--model=lenet"}}) {
    EXPECT_TRUE(TakeAutoBatch(&words));
    EXPECT_EQ(words, Words{"--model=lenet"});
  }
}

TEST(AutoBatch, NumbersAndOtherFlagsStay) {
  for (const Words& words : {Words{"--batch_size=32"}, Words{"--batch_size", "32"}, Words{"--eval_batch_size=auto"},
                             Words{"--", "--batch_size=auto"}, Words{"--batch_size"}, Words{"batch_size=auto"},
                             Words{"batch_size", "auto"}}) {
    Words copy = words;
    EXPECT_FALSE(TakeAutoBatch(&copy));
    EXPECT_EQ(copy, words);
  }
}

TEST(AutoBatch, TheLastOneCounts) {
  Words words{"--batch_size=auto", "--batch_size=8"};
  EXPECT_FALSE(TakeAutoBatch(&words));
  EXPECT_EQ(words, Words{"--batch_size=8"});
  words = {"--batch_size=8", "--batch_size=auto"};
  EXPECT_TRUE(TakeAutoBatch(&words));
}

}  // namespace
}  // namespace muster::cli
