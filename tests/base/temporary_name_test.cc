#include "base/temporary_name.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "base/output_file.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr pid_t kNobody = 2000000000;  // process numbers end at 2^22

class TemporaryNames : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "muster_temporary_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path Make(const std::string& name, std::chrono::minutes age = std::chrono::minutes(0)) const {
    const fs::path file = folder_ / name;
    std::ofstream(file) << "half a file";
    fs::last_write_time(file, fs::file_time_type::clock::now() - age);
    return file;
  }
  // The same number of a process, but on another machine.
  static std::string Elsewhere(const std::string& name) {
    std::string other = name;
    other.back() = other.back() == '0' ? '1' : '0';
    return other;
  }

  fs::path folder_;
};

TEST_F(TemporaryNames, AreThoseOfPendingFiles) {
  const OutputFile file((folder_ / "x").string(), OutputFile::Mode::kPending);
  EXPECT_TRUE(fs::exists(TemporaryName((folder_ / "x").string())));
}

TEST_F(TemporaryNames, AFileOfThisMachineIsAbandonedAsSoonAsItsProcessIsGone) {
  EXPECT_TRUE(IsAbandoned(Make(TemporaryName("x", kNobody))));
  EXPECT_FALSE(IsAbandoned(Make(TemporaryName("x"))));
  EXPECT_FALSE(IsAbandoned(Make(TemporaryName("y"), std::chrono::minutes(1000))));
}

// On a shared volume the process cannot be asked for: it may be writing at this moment.
TEST_F(TemporaryNames, AFileOfAnotherMachineIsAbandonedAfterAnHourWithoutAChange) {
  for (const std::string& name :
       {Elsewhere(TemporaryName("x", kNobody)), Elsewhere(TemporaryName("x")), std::string("x.tmp2000000000")}) {
    EXPECT_FALSE(IsAbandoned(Make(name))) << name;
    EXPECT_FALSE(IsAbandoned(Make(name, std::chrono::minutes(50)))) << name;
    EXPECT_TRUE(IsAbandoned(Make(name, std::chrono::minutes(70)))) << name;
  }
}

TEST_F(TemporaryNames, OtherFilesAreNeverAbandoned) {
  for (const char* name : {"x", "x.tmp", "x.tmp-1", "x.tmp0-1", "x.tmp7-", "x.tmp7-g", "x.tmp7-1x", "x.tmp7x",
                           "x.tmp7-123456789", "x.tmp99999999999"})
    EXPECT_FALSE(IsAbandoned(Make(name, std::chrono::minutes(1000)))) << name;
}

TEST_F(TemporaryNames, OnlyAbandonedFilesOfThatPrefixAreRemoved) {
  const fs::path left = Make(TemporaryName("model-1", kNobody)), other = Make(TemporaryName("other", kNobody)),
                 elsewhere = Make(Elsewhere(left.filename()));
  RemoveAbandonedFiles(folder_.string(), "model");
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_TRUE(fs::exists(elsewhere));
}

}  // namespace
}  // namespace muster
