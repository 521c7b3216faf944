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

TEST(DevicesCommand, ListsSimulatedGpusWithLogicalAndPhysicalNumbers) {
  const std::string text = Devices({"--simulated_gpus=2", "--visible_device_list=1", "--virtual_gpus_mb=512+256"});
  EXPECT_NE(text.find("/job:localhost/replica:0/task:0/device:GPU:0  simulated GPU, card 1, 512 MiB\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("/job:localhost/replica:0/task:0/device:GPU:1  simulated GPU, card 1, 256 MiB\n"),
            std::string::npos)
      << text;
  const auto json = nlohmann::json::parse(Devices({"--json", "--simulated_gpus=1", "--gpu_memory_limit_mb=64"}));
  EXPECT_EQ(json["devices"][1]["physical_id"], 0);
  EXPECT_EQ(json["devices"][1]["memory_limit"], 64 << 20);
}

TEST(DevicesCommand, AMalformedListOfVirtualGpusIsPointedAt) {
  try {
    DevicesCommand({"--simulated_gpus=1", "--virtual_gpus_mb=512+x"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("at character 5"), std::string::npos) << error.what();
  }
}

TEST(DevicesCommand, TakesNoOtherWords) {
  EXPECT_THROW(DevicesCommand({"everything"}), Error);
  EXPECT_THROW(DevicesCommand({"--jsom"}), Error);
}

}  // namespace
}  // namespace muster::cli
