// The grammar of device strings: every sentence of TensorFlow 1's rules, and what is refused.

#include "muster/device_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "muster/error.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

std::string Canonical(std::string_view text) { return DeviceName::Parse(text).ToString(); }

std::string ErrorOf(std::string_view text) {
  try {
    DeviceName::Parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST(DeviceName, AFullNameIsItsOwnCanonicalForm) {
  const std::string full = "/job:worker/replica:0/task:1/device:GPU:0";
  const DeviceName name = DeviceName::Parse(full);
  EXPECT_EQ(name.job, "worker");
  EXPECT_EQ(name.replica, 0);
  EXPECT_EQ(name.task, 1);
  EXPECT_EQ(name.type, "GPU");
  EXPECT_EQ(name.index, 0);
  EXPECT_TRUE(name.is_full());
  EXPECT_EQ(name.ToString(), full);
}

TEST(DeviceName, EveryPartIsOptional) {
  for (const char* text :
       {"/job:ps", "/replica:0", "/task:7", "/device:GPU:1", "/job:ps/task:2", "/task:0/device:CPU:0"}) {
    EXPECT_EQ(Canonical(text), text);
    EXPECT_FALSE(DeviceName::Parse(text).is_full());
  }
  EXPECT_TRUE(DeviceName::Parse("").is_empty());
  EXPECT_TRUE(DeviceName::Parse("/").is_empty());
}

TEST(DeviceName, PartsComeInAnyOrder) { EXPECT_EQ(Canonical("/gpu:1/task:0/job:ps"), "/job:ps/task:0/device:GPU:1"); }

TEST(DeviceName, AStarLeavesAPartOpen) {
  EXPECT_TRUE(DeviceName::Parse("/job:*/replica:*/task:*/device:*:*").is_empty());
  EXPECT_EQ(Canonical("/gpu:*"), "/device:GPU:*");
  EXPECT_EQ(Canonical("/device:GPU"), "/device:GPU:*");
  EXPECT_EQ(Canonical("/device:*:3"), "/device:*:3");
  EXPECT_EQ(Canonical("/job:*/task:3"), "/task:3");
}

TEST(DeviceName, LegacyShortFormsAreReadInEitherCaseWithOrWithoutIndex) {
  EXPECT_EQ(Canonical("/cpu:0"), "/device:CPU:0");
  EXPECT_EQ(Canonical("/CPU:0"), "/device:CPU:0");
  EXPECT_EQ(Canonical("/gpu:12"), "/device:GPU:12");
  EXPECT_EQ(Canonical("/Gpu:1"), "/device:GPU:1");
  EXPECT_EQ(Canonical("/gpu"), "/device:GPU:*");
  EXPECT_EQ(Canonical("/device:gpu:1"), "/device:GPU:1");
  EXPECT_EQ(Canonical("/job:ps/cpu:0"), "/job:ps/device:CPU:0");
}

TEST(DeviceName, TheFirstSlashMayBeMissing) {
  EXPECT_EQ(Canonical("gpu:1"), "/device:GPU:1");
  EXPECT_EQ(Canonical("job:ps/task:1"), "/job:ps/task:1");
}

TEST(DeviceName, AJobIsALetterThenLettersDigitsAndUnderscores) {
  EXPECT_EQ(Canonical("/job:ps_2b"), "/job:ps_2b");
  for (const char* bad : {"/job:2ps", "/job:_ps", "/job:p-s", "/job:", "/job:p s", "/job"})
    EXPECT_THAT(ErrorOf(bad), HasSubstr("cannot read")) << bad;
}

TEST(DeviceName, AnUnknownPartIsNamedTogetherWithTheGrammar) {
  EXPECT_EQ(ErrorOf("/job:ps/tusk:1"),
            "device \"/job:ps/tusk:1\": cannot read \"tusk:1\"; a device is any of /job:NAME /replica:N /task:N "
            "/device:TYPE:N (or /cpu:N, /gpu:N), where * leaves a part open");
  for (const char* bad : {"/tpu:0", "/device:0:GPU", "/gpu:one", "/gpu:-1", "/gpu:1:2", "/task:", "/task:1x",
                          "/task:99999999999", "/job:ps//task:1", "/job:ps/", "//", "/gpu:", "banana"})
    EXPECT_THAT(ErrorOf(bad), HasSubstr("cannot read")) << bad;
}

TEST(DeviceName, APartGivenTwiceIsRefused) {
  EXPECT_EQ(ErrorOf("/gpu:0/device:CPU:0"),
            "device \"/gpu:0/device:CPU:0\": \"device:CPU:0\" comes after another device; name it once");
  EXPECT_THAT(ErrorOf("/job:a/job:b"), HasSubstr("\"job:b\" comes after another job"));
}

TEST(DeviceName, ASpecificationMatchesEveryDeviceThatAgreesOnThePartsItSets) {
  const DeviceName gpu = DeviceName::Parse("/job:worker/replica:0/task:1/device:GPU:0");
  for (const char* agrees :
       {"", "/gpu:0", "/gpu", "/job:worker", "/task:1", "/job:worker/replica:0/task:1/device:GPU:0", "/device:*:0"})
    EXPECT_TRUE(DeviceName::Parse(agrees).Matches(gpu)) << agrees;
  for (const char* differs : {"/gpu:1", "/cpu:0", "/job:ps", "/task:0", "/replica:1", "/job:worker/task:2/gpu:0"})
    EXPECT_FALSE(DeviceName::Parse(differs).Matches(gpu)) << differs;
}

TEST(DeviceName, MergingFillsEachOfTheFivePartsFromTheInnermostThatSetsIt) {
  auto merged = [](const char* inner, const char* outer) {
    return DeviceName::Parse(inner).MergedInto(DeviceName::Parse(outer)).ToString();
  };
  EXPECT_EQ(merged("/gpu:1", "/job:worker/task:2"), "/job:worker/task:2/device:GPU:1");
  EXPECT_EQ(merged("/job:ps", "/job:worker/task:2/gpu:1"), "/job:ps/task:2/device:GPU:1");
  EXPECT_EQ(merged("/gpu", "/cpu:3"), "/device:GPU:3");  // type and index are separate parts
  EXPECT_EQ(merged("", "/cpu:3"), "/device:CPU:3");
  EXPECT_EQ(merged("/device:*:2", "/gpu:0"), "/device:GPU:2");
}

}  // namespace muster
