#include "base/proc_file.h"

#include <gtest/gtest.h>

namespace muster {

TEST(ProcFile, FindsAValueOnlyAtTheStartOfALine) {
  const char* text = "VmPeak:\t  10 kB\nNotVmRSS: 5 kB\nVmRSS:\t  2048 kB\nName:\tcat  \n";
  EXPECT_EQ(LineValue(text, "Name:"), "cat");
  EXPECT_EQ(KilobyteValue(text, "VmRSS:"), 2048 * 1024);
  EXPECT_EQ(KilobyteValue(text, "VmHWM:"), std::nullopt);
  EXPECT_EQ(KilobyteValue(text, "Name:"), std::nullopt);
}

TEST(ProcFile, ANumberIsTheWholeText) {
  EXPECT_EQ(WholeNumber(" 42\n"), 42);
  EXPECT_EQ(WholeNumber("max\n"), std::nullopt);
  EXPECT_EQ(WholeNumber("42 7"), std::nullopt);
  EXPECT_EQ(WholeNumber(""), std::nullopt);
  EXPECT_EQ(WholeNumber("99999999999999999999"), std::nullopt);
}

TEST(ProcFile, AMissingFileIsNullAndAFolderToo) {
  EXPECT_EQ(ReadSmallFile("/proc/self/no_such_file"), std::nullopt);
  EXPECT_EQ(ReadSmallFile("/proc"), std::nullopt);
  EXPECT_FALSE(ReadSmallFile("/proc/self/status")->empty());
}

}  // namespace muster
