#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "base/output_file.h"
#include "base/output_flags.h"
#include "muster/error.h"

namespace muster {
namespace {

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "muster_file_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  size_t Count() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) count += entry.exists();
    return count;
  }

  std::string folder_;
};

std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(FileTest, WhatWasWrittenIsReadBackAndNoTemporaryIsLeft) {
  const std::string bytes("a\0b\n", 4);
  WriteFileAtomically(Path("x"), bytes);
  EXPECT_EQ(ReadFile(Path("x")), bytes);
  WriteFileAtomically(Path("x"), "new");
  EXPECT_EQ(ReadFile(Path("x")), "new");
  EXPECT_EQ(Count(), 1u);
}

TEST_F(FileTest, AppendedBytesFollowThoseThere) {
  AppendToFile(Path("log"), "one\n");
  AppendToFile(Path("log"), "two\n");
  EXPECT_EQ(ReadFile(Path("log")), "one\ntwo\n");
}

TEST_F(FileTest, ErrorsNameThePathAndTheSystemsReason) {
  EXPECT_EQ(ErrorOf([&] { ReadFile(Path("none")); }), "cannot open " + Path("none") + ": No such file or directory");
  const std::string deep = Path("no/such/file");
  EXPECT_NE(ErrorOf([&] { WriteFileAtomically(deep, "x"); }).find(deep), std::string::npos);
  EXPECT_EQ(ErrorOf([&] { CheckWritable(deep); }), "cannot write " + deep + ": No such file or directory");
  EXPECT_EQ(ErrorOf([&] { CheckWritable(folder_); }), "cannot write " + folder_ + ": Is a directory");
}

TEST_F(FileTest, AFailedReplacementLeavesNothingBehind) {
  std::filesystem::create_directory(Path("folder"));
  EXPECT_NE(ErrorOf([&] { WriteFileAtomically(Path("folder"), "x"); }), "no error");
  EXPECT_EQ(Count(), 1u);
}

TEST_F(FileTest, CheckingLeavesNothingBehind) {
  CheckWritable(Path("result.json"));
  EXPECT_EQ(Count(), 0u);
  CreateWritableFolder(Path("a/b"));
  EXPECT_TRUE(std::filesystem::is_empty(Path("a/b")));
}

TEST_F(FileTest, APipeIsWrittenToAndStaysAPipe) {
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  CheckWritable(Path("pipe"));
  const int reader = ::open(Path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  WriteFileAtomically(Path("pipe"), "hello");
  char got[8] = {};
  EXPECT_EQ(::read(reader, got, sizeof got), 5);
  EXPECT_STREQ(got, "hello");
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(Path("pipe")));
  EXPECT_EQ(Count(), 1u);
}

TEST_F(FileTest, ALinkStaysALinkAndTheFileBehindItIsReplaced) {
  std::filesystem::create_directory(Path("real"));
  std::filesystem::create_symlink("real/file", Path("link"));
  for (const char* text : {"created", "replaced"}) {
    CheckWritable(Path("link"));
    WriteFileAtomically(Path("link"), text);
    EXPECT_TRUE(std::filesystem::is_symlink(Path("link")));
    EXPECT_EQ(ReadFile(Path("real/file")), text);
  }
  EXPECT_EQ(Count(), 2u);
}

TEST_F(FileTest, AnExclusiveFileIsRefusedToASecondWriterAndNotEmptied) {
  OutputFile first(Path("log"), OutputFile::Mode::kExclusive);
  first.Append("line\n");
  first.Flush();
  EXPECT_EQ(ErrorOf([&] { OutputFile(Path("log"), OutputFile::Mode::kExclusive); }),
            Path("log") + ": another run is writing it; give this one a folder of its own");
  first.Close();
  EXPECT_EQ(ReadFile(Path("log")), "line\n");
  OutputFile(Path("log"), OutputFile::Mode::kExclusive).Close();
  EXPECT_EQ(ReadFile(Path("log")), "");
}

// Standard error is this file, as long as the object lives.
class StandardErrorIs {
 public:
  StandardErrorIs(const std::string& path, int flags) : saved_(::dup(STDERR_FILENO)) {
    const int file = ::open(path.c_str(), flags, 0600);
    ::dup2(file, STDERR_FILENO);
    ::close(file);
  }
  ~StandardErrorIs() {
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
  }

 private:
  const int saved_;
};

TEST_F(FileTest, AFileThatStandardErrorGoesToIsNotReplaced) {
  {
    const StandardErrorIs err(Path("err"), O_WRONLY | O_CREAT | O_APPEND);
    AppendToFile(Path("err"), "before\n");
    WriteFileAtomically(Path("err"), "result\n");
    AppendToFile(Path("err"), "after\n");
  }
  EXPECT_EQ(ReadFile(Path("err")), "before\nresult\nafter\n");
}

// As main() leaves it when it was closed: nothing can be written there.
TEST_F(FileTest, AStandardErrorThatIsOnlyReadIsNotWrittenTo) {
  WriteFileAtomically(Path("file"), "old");
  for (const std::string& path : {Path("file"), std::string("/dev/null")}) {
    const StandardErrorIs err(path, O_RDONLY);
    EXPECT_NO_THROW(CheckWritable(path));
    EXPECT_NO_THROW(WriteFileAtomically(path, "new"));
  }
  EXPECT_EQ(ReadFile(Path("file")), "new");
}

TEST_F(FileTest, ALinkThatLeadsToItselfIsRefusedAndStays) {
  std::filesystem::create_symlink("loop", Path("loop"));
  std::filesystem::create_symlink("b", Path("a"));
  std::filesystem::create_symlink("a", Path("b"));
  for (const char* name : {"loop", "a"}) {
    const std::string says = "cannot write " + Path(name) + ": Too many levels of symbolic links";
    EXPECT_EQ(ErrorOf([&] { CheckWritable(Path(name)); }), says);
    EXPECT_EQ(ErrorOf([&] { WriteFileAtomically(Path(name), "x"); }), says);
    EXPECT_EQ(ErrorOf([&] { CheckJsonFlag("json", Path(name)); }), "flag --json: " + says);
    EXPECT_TRUE(std::filesystem::is_symlink(Path(name)));
  }
}

TEST_F(FileTest, CheckingAFolderOrFailingToCreateItLeavesNoFoldersBehind) {
  CheckFolder(Path("a/b/c"));
  EXPECT_EQ(Count(), 0u);
  WriteFileAtomically(Path("file"), "x");
  EXPECT_EQ(ErrorOf([&] { CheckFolder(Path("file/b")); }),
            "cannot create folder " + Path("file/b") + ": Not a directory");
  EXPECT_NE(ErrorOf([&] { CreateWritableFolder(Path("d/") + std::string(300, 'x')); }), "no error");
  EXPECT_EQ(Count(), 1u);
}

TEST_F(FileTest, AnOutputFlagIsNamedInItsError) {
  EXPECT_EQ(ErrorOf([] { CheckFileFlag("json", ""); }), "flag --json=: needs the name of a file");
  EXPECT_EQ(ErrorOf([] { CheckFolderFlag("train_dir", ""); }), "flag --train_dir=: needs the name of a folder");
  EXPECT_EQ(ErrorOf([&] { CheckFileFlag("json", Path("no/x")); }),
            "flag --json: cannot write " + Path("no/x") + ": No such file or directory");
  WriteFileAtomically(Path("file"), "x");
  EXPECT_EQ(ErrorOf([&] { CheckFolderFlag("train_dir", Path("file")); }),
            "flag --train_dir: cannot create folder " + Path("file") + ": Not a directory");
}

TEST_F(FileTest, AFileInTheWayOfAFolderIsNamed) {
  WriteFileAtomically(Path("file"), "x");
  EXPECT_NE(ErrorOf([&] { CreateWritableFolder(Path("file")); }).find(Path("file")), std::string::npos);
  EXPECT_NE(ErrorOf([&] { CreateWritableFolder(Path("file/sub")); }).find(Path("file/sub")), std::string::npos);
}

TEST(JsonFlag, DoesNotOverwriteWhatIsNoJson) {
  const std::string folder = ::testing::TempDir();
  const std::string data = folder + "/json_flag_data", old = folder + "/json_flag_old.json";
  WriteFileAtomically(data, std::string("\0\0\b\3", 4));
  WriteFileAtomically(old, " {}\n");
  EXPECT_NO_THROW(CheckJsonFlag("json", old));
  EXPECT_NO_THROW(CheckJsonFlag("json", folder + "/json_flag_new"));
  try {
    CheckJsonFlag("json", data);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(),
              "flag --json: " + data + " is there and is no JSON; it is not overwritten, so name another file");
  }
}

// "--json=/dev/stdout >> log": the log stays.
TEST_F(FileTest, AJsonFlagMayNameTheTextThatStandardErrorIsAddedTo) {
  WriteFileAtomically(Path("log"), "text\n");
  EXPECT_NE(ErrorOf([&] { CheckJsonFlag("json", Path("log")); }), "no error");
  const StandardErrorIs err(Path("log"), O_WRONLY | O_APPEND);
  EXPECT_NO_THROW(CheckJsonFlag("json", Path("log")));
  WriteFileAtomically(Path("log"), "{}\n");
  EXPECT_EQ(ReadFile(Path("log")), "text\n{}\n");
}

}  // namespace
}  // namespace muster
