#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/version.h"
#include "cli/commands.h"
#include "muster/error.h"

namespace muster::cli {
namespace {

std::string Devices(const std::vector<std::string>& words) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(DevicesCommand(words), 0);
  return ::testing::internal::GetCapturedStdout();
}

TEST(DevicesCommand, ShowsTheMachineAndWhatIsUsedOfIt) {
  const std::string text = Devices({});
  for (const char* label : {"CPU ", "Cores ", "Caches ", "NUMA ", "Instructions ", "Memory ", "GPUs ", "Libraries "})
    EXPECT_NE(text.find(std::string("\n") + label), std::string::npos) << label;
  EXPECT_NE(text.find("\nMuster uses  /device:CPU:0 with "), std::string::npos);
}

TEST(DevicesCommand, JsonNamesTheVersionsOfTheLinkedLibraries) {
  const auto json = nlohmann::json::parse(Devices({"--json"}));
  EXPECT_EQ(json["libraries"]["Muster"], Version());
  for (const char* library : {"oneDNN", "protobuf", "hwloc", "zlib"})
    EXPECT_FALSE(json["libraries"].value(library, "").empty()) << library;
  EXPECT_GE(json["use"]["threads"], 1);
}

TEST(DevicesCommand, TakesNoOtherWords) {
  EXPECT_THROW(DevicesCommand({"everything"}), Error);
  EXPECT_THROW(DevicesCommand({"--jsom"}), Error);
}

}  // namespace
}  // namespace muster::cli
