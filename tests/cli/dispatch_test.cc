#include "cli/dispatch.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/version.h"
#include "cli/commands.h"

namespace muster::cli {
namespace {

struct Output {
  int exit_code;
  std::string out, err;
};

Output RunMuster(const std::vector<std::string>& words) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int exit_code = Dispatch(words);
  return {exit_code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

TEST(Dispatch, AnUnknownCommandNamesTheNearest) {
  const Output output = RunMuster({"bnech"});
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_EQ(output.err, "muster: unknown command 'bnech': did you mean bench?\n");
  EXPECT_NE(RunMuster({"xyzzy"}).err.find("there are bench"), std::string::npos);
}

TEST(Dispatch, VersionAndHelpGoToStandardOutput) {
  EXPECT_EQ(RunMuster({"--version"}).out.find(std::string("muster ") + Version() + " ("), 0u);
  const Output help = RunMuster({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const Command& command : Commands()) EXPECT_NE(help.out.find(command.name), std::string::npos);
}

TEST(Dispatch, NearMissesOfHelpAndVersionAreTold) {
  EXPECT_EQ(RunMuster({"--hlep"}).err, "muster: unknown command '--hlep': did you mean --help?\n");
  EXPECT_EQ(RunMuster({"--verison"}).err, "muster: unknown command '--verison': did you mean --version?\n");
  EXPECT_EQ(RunMuster({"version"}).out, RunMuster({"--version"}).out);
}

TEST(Dispatch, NoWordsAtAllShowTheHelpAsAnError) {
  const Output output = RunMuster({});
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_EQ(output.err, RunMuster({"--help"}).out);
}

TEST(Dispatch, ErrorsNameTheCommandAndAreOneLine) {
  const Output output = RunMuster({"bench", "--num_gus=2"});
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_EQ(output.out, "");
  EXPECT_EQ(output.err, "muster bench: Unknown command line flag 'num_gus'. Did you mean: num_gpus ?\n");
}

TEST(Dispatch, TheHelpOfEveryCommandFitsAScreen) {
  for (const Command& command : Commands()) {
    const Output help = RunMuster({command.name, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command.name;
    std::istringstream lines(help.out);
    std::string line;
    int count = 0;
    for (; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 100u) << line;
    EXPECT_LE(count, 40) << command.name;
    EXPECT_EQ(RunMuster({command.name, "--helpfull"}).exit_code, 0) << command.name;
  }
}

TEST(ExitCode, TellsBadInputFromFailures) {
  EXPECT_EQ(ExitCodeOf(InvalidArgument("x")), 2);
  EXPECT_EQ(ExitCodeOf(Unimplemented("x")), 2);
  EXPECT_EQ(ExitCodeOf(Internal("x")), 1);
  EXPECT_EQ(ExitCodeOf(Error(Code::kCancelled, "interrupted")), 130);
}

}  // namespace
}  // namespace muster::cli
