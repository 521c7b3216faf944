#include "base/flags.h"

#include <gtest/gtest.h>

#include "base/flags_help.h"
#include "base/nearest.h"
#include "muster/error.h"

namespace muster {
namespace {

FlagTable Table() {
  std::vector<FlagSpec> specs;
  specs.push_back({.name = "model",
                   .type = FlagType::kString,
                   .default_value = std::string("trivial"),
                   .help = "network",
                   .group = "What",
                   .important = true});
  specs.push_back(
      {.name = "eval", .type = FlagType::kBoolean, .default_value = false, .help = "score", .group = "What"});
  specs.push_back({.name = "shout", .type = FlagType::kBoolean, .default_value = true, .group = "What"});
  specs.push_back({.name = "num_gpus", .type = FlagType::kInteger, .default_value = int64_t{1}, .group = "What"});
  specs.push_back({.name = "num_batches", .type = FlagType::kInteger, .group = "What"});
  specs.push_back({.name = "every", .type = FlagType::kInteger, .group = "What", .lower = 1});
  specs.push_back({.name = "ewma", .type = FlagType::kFloat, .group = "What", .lower = 0, .upper = 1});
  specs.push_back({.name = "fraction", .type = FlagType::kFloat, .default_value = 0.0, .group = "What", .lower = 0});
  specs.push_back({.name = "mode",
                   .type = FlagType::kEnum,
                   .default_value = std::string("a"),
                   .group = "Other",
                   .enum_values = {"a", "b", ""}});
  specs.push_back(
      {.name = "steps", .type = FlagType::kList, .default_value = std::vector<std::string>{}, .group = "Other"});
  return FlagTable(std::move(specs));
}

std::string ErrorOf(const std::vector<std::string>& words) {
  try {
    RejectPositional(ParseFlags(Table(), words));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    return error.what();
  }
  return "no error";
}

TEST(Flags, DefaultsHoldWhenNothingIsSet) {
  const FlagValues values = ParseFlags(Table(), {});
  EXPECT_EQ(values.GetString("model"), "trivial");
  EXPECT_FALSE(values.GetBool("eval"));
  EXPECT_EQ(values.GetInt("num_gpus"), 1);
  EXPECT_EQ(values.FindInt("num_batches"), std::nullopt);
  EXPECT_FALSE(values.has_value("num_batches"));
  EXPECT_FALSE(values.is_set("model"));
  EXPECT_TRUE(values.GetList("steps").empty());
}

TEST(Flags, EverySpellingOfAbslIsRead) {
  EXPECT_EQ(ParseFlags(Table(), {"--model=vgg"}).GetString("model"), "vgg");
  EXPECT_EQ(ParseFlags(Table(), {"--model", "vgg"}).GetString("model"), "vgg");
  EXPECT_EQ(ParseFlags(Table(), {"-model=vgg"}).GetString("model"), "vgg");
  EXPECT_EQ(ParseFlags(Table(), {"-model", "vgg"}).GetString("model"), "vgg");
  EXPECT_TRUE(ParseFlags(Table(), {"--eval"}).GetBool("eval"));
  EXPECT_FALSE(ParseFlags(Table(), {"--noshout"}).GetBool("shout"));
  for (const char* yes : {"true", "True", "t", "1"}) {
    EXPECT_TRUE(ParseFlags(Table(), {std::string("--eval=") + yes}).GetBool("eval")) << yes;
  }
  for (const char* no : {"false", "FALSE", "f", "0"}) {
    EXPECT_FALSE(ParseFlags(Table(), {std::string("--shout=") + no}).GetBool("shout")) << no;
  }
  EXPECT_EQ(ParseFlags(Table(), {"--num_gpus", "-3"}).GetInt("num_gpus"), -3);
  EXPECT_EQ(ParseFlags(Table(), {"--num_gpus=0x10"}).GetInt("num_gpus"), 16);
  EXPECT_DOUBLE_EQ(ParseFlags(Table(), {"--ewma=.25"}).GetFloat("ewma"), 0.25);
  EXPECT_DOUBLE_EQ(ParseFlags(Table(), {"--ewma=1e-3"}).GetFloat("ewma"), 0.001);
  EXPECT_EQ(ParseFlags(Table(), {"--steps=2, 3,x"}).GetList("steps"), (std::vector<std::string>{"2", "3", "x"}));
  EXPECT_EQ(ParseFlags(Table(), {"--mode="}).GetString("mode"), "");
  EXPECT_EQ(ParseFlags(Table(), {"--model=a=b"}).GetString("model"), "a=b");
}

TEST(Flags, TheLastSettingWinsAndIsSetEvenWithTheDefaultsValue) {
  EXPECT_EQ(ParseFlags(Table(), {"--num_gpus=2", "--num_gpus=3"}).GetInt("num_gpus"), 3);
  EXPECT_TRUE(ParseFlags(Table(), {"--num_gpus=1"}).is_set("num_gpus"));
}

TEST(Flags, FlagsEndAtDoubleDashAndAtTheFirstPlainWord) {
  EXPECT_EQ(ParseFlags(Table(), {"--eval", "--", "--model=x"}).positional(), std::vector<std::string>{"--model=x"});
  const FlagValues values = ParseFlags(Table(), {"--eval", "False", "--model=x"});
  EXPECT_EQ(values.positional(), (std::vector<std::string>{"False", "--model=x"}));
  EXPECT_EQ(values.GetString("model"), "trivial");
}

TEST(Flags, PositionalWordsAreRefusedAsThePeerDoes) {
  EXPECT_EQ(ErrorOf({"--eval", "False"}), "Received unknown positional arguments: ['False']");
}

TEST(Flags, AnUnknownFlagNamesTheNearestKnownOne) {
  EXPECT_EQ(ErrorOf({"--num_gus=2"}), "Unknown command line flag 'num_gus'. Did you mean: num_gpus ?");
  EXPECT_EQ(ErrorOf({"--xyzzy=2"}), "Unknown command line flag 'xyzzy'");
  EXPECT_EQ(ErrorOf({"--nomodel"}), "Unknown command line flag 'nomodel'. Did you mean: model ?");
  EXPECT_EQ(ErrorOf({"--helpful"}), "Unknown command line flag 'helpful'. Did you mean: helpfull ?");
}

TEST(Flags, ValuesOfTheWrongKindAreRefusedInOneLine) {
  EXPECT_EQ(ErrorOf({"--mode=foo"}), "flag --mode=foo: value should be one of <a|b|>");
  EXPECT_EQ(ErrorOf({"--fraction=-1"}), "flag --fraction=-1: -1.0 is not a non-negative number");
  EXPECT_EQ(ErrorOf({"--ewma=2"}), "flag --ewma=2: 2.0 is not a number in the range [0.0, 1.0]");
  EXPECT_EQ(ErrorOf({"--every=0"}), "flag --every=0: 0 is not a positive integer");
  EXPECT_EQ(ErrorOf({"--num_gpus=two"}), "flag --num_gpus=two: 'two' is not an integer");
  EXPECT_EQ(ErrorOf({"--num_gpus=1.5"}), "flag --num_gpus=1.5: '1.5' is not an integer");
  EXPECT_EQ(ErrorOf({"--num_gpus="}), "flag --num_gpus=: '' is not an integer");
  EXPECT_EQ(ErrorOf({"--num_gpus=+-5"}), "flag --num_gpus=+-5: '+-5' is not an integer");
  EXPECT_EQ(ErrorOf({"--num_gpus=99999999999999999999"}),
            "flag --num_gpus=99999999999999999999: the number does not fit 64 bits");
  EXPECT_EQ(ErrorOf({"--fraction=x"}), "flag --fraction=x: 'x' is not a number");
  EXPECT_EQ(ErrorOf({"--fraction="}), "flag --fraction=: '' is not a number");
  EXPECT_EQ(ErrorOf({"--fraction=nan"}), "flag --fraction=nan: not a number is no value for a flag");
  EXPECT_EQ(ErrorOf({"--eval=maybe"}), "flag --eval=maybe: a boolean flag takes true or false");
  EXPECT_EQ(ErrorOf({"--noeval=1"}), "--noeval=1 does not take an argument");
  EXPECT_EQ(ErrorOf({"--model"}), "Missing value for flag --model");
}

TEST(Flags, HelpIsFoundAnywhereBeforeAPlainWord) {
  EXPECT_TRUE(ParseFlags(Table(), {"--eval", "--help", "--unknown"}).help());
  EXPECT_TRUE(ParseFlags(Table(), {"--helpfull"}).helpfull());
  EXPECT_FALSE(ParseFlags(Table(), {"--eval", "word", "--help"}).help());
}

TEST(Flags, HelpListsTheImportantFlagsAndHelpfullAll) {
  const std::string help = HelpText("Usage\n", Table());
  EXPECT_NE(help.find("--model=TEXT"), std::string::npos);
  EXPECT_EQ(help.find("--num_gpus"), std::string::npos);
  const FlagTable table = Table();
  const std::string full = HelpFullText("Usage\n", table);
  for (const FlagSpec& spec : table.specs()) EXPECT_NE(full.find(spec.name), std::string::npos) << spec.name;
}

TEST(Flags, ALongHelpTextStandsBesideItsFlagAndGoesOnInItsColumn) {
  const FlagTable table(
      {{.name = "json",
        .type = FlagType::kString,
        .help = "first words, then so many more that they cannot all stand in one line of a hundred columns",
        .important = true}});
  EXPECT_EQ(HelpText("", table),
            "\n  --json=TEXT                    first words, then so many more that they cannot all stand in one\n"
            "                                 line of a hundred columns\nAll flags: --helpfull\n");
}

TEST(Flags, FloatsAreWrittenAsPythonDoes) {
  EXPECT_EQ(PythonFloat(-1), "-1.0");
  EXPECT_EQ(PythonFloat(1e-8), "1e-08");
  EXPECT_EQ(PythonFloat(0.9), "0.9");
  EXPECT_EQ(PythonFloat(4e-5), "4e-05");
}

TEST(Nearest, DistanceCountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", "abc"), 0);
  EXPECT_EQ(EditDistance("abc", "acb"), 1);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
}

TEST(Nearest, NothingIsSuggestedWhenHalfIsWrongAndTiesAreAllNamed) {
  EXPECT_TRUE(NearestWords("abcd", {"abxy"}).empty());
  EXPECT_EQ(NearestWords("tain", {"train", "top"}), std::vector<std::string>{"train"});
  EXPECT_EQ(NearestWords("batch_sizes", {"eval", "batch_size1", "batch_size0"}),
            (std::vector<std::string>{"batch_size0", "batch_size1"}));
}

}  // namespace
}  // namespace muster
