// TensorFlow's GPU options: numbering, limits, and what is refused.

#include "session/logical_gpus.h"

#include <gtest/gtest.h>

#include "muster/error.h"
#include "muster/session.h"

namespace muster {
namespace {

constexpr int64_t kMiB = 1 << 20, kCard = 1000 * kMiB;

std::string ErrorOf(const GpuOptions& options, int num_gpus = -1) {
  try {
    LogicalGpus(options, 2, kCard, num_gpus);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST(LogicalGpus, AreTheCardsInTheOrderOfTheList) {
  const auto gpus = LogicalGpus({.visible_device_list = "1,0"}, 2, kCard, -1);
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].card, 1);
  EXPECT_EQ(gpus[1].card, 0);
  EXPECT_EQ(gpus[0].memory_limit, kCard);
}

TEST(LogicalGpus, VirtualDevicesSplitCardsAndAreNumberedThrough) {
  const auto gpus = LogicalGpus({.visible_device_list = "1,0", .virtual_devices_mb = {{100, 200}}}, 2, kCard, -1);
  ASSERT_EQ(gpus.size(), 3u);
  EXPECT_EQ(gpus[1].card, 1);
  EXPECT_EQ(gpus[1].memory_limit, 200 * kMiB);
  EXPECT_EQ(gpus[2].card, 0);
  EXPECT_EQ(gpus[2].memory_limit, kCard);
}

TEST(LogicalGpus, TakeTheFractionOrTheLimitOfACard) {
  EXPECT_EQ(LogicalGpus({.per_process_gpu_memory_fraction = 0.25}, 1, kCard, 1)[0].memory_limit, 250 * kMiB);
  EXPECT_EQ(LogicalGpus({.memory_limit_mb = 64}, 1, kCard, 1)[0].memory_limit, 64 * kMiB);
}

TEST(LogicalGpus, BadOptionsGetOneLineThatSaysWhatExists) {
  EXPECT_EQ(ErrorOf({.visible_device_list = "0,3"}),
            "visible_device_list \"0,3\" names card 3, but there are cards 0 to 1");
  EXPECT_EQ(ErrorOf({.visible_device_list = "1,1"}), "visible_device_list \"1,1\" names card 1 twice");
  EXPECT_EQ(ErrorOf({.visible_device_list = "0,"}),
            "visible_device_list \"0,\" must be numbers of cards with commas between them, but has \"\"");
  EXPECT_EQ(ErrorOf({.memory_limit_mb = 2000}),
            "gpu_memory_limit_mb is 2000, but must be between 1 and the 1000 MiB of a card");
  EXPECT_EQ(ErrorOf({.per_process_gpu_memory_fraction = 1.5}),
            "per_process_gpu_memory_fraction is 1.5, but must be above 0 and at most 1");
  EXPECT_EQ(ErrorOf({.memory_limit_mb = 5, .per_process_gpu_memory_fraction = 0.5}),
            "per_process_gpu_memory_fraction and gpu_memory_limit_mb exclude each other: give one of them");
  EXPECT_EQ(ErrorOf({.per_process_gpu_memory_fraction = 0.5, .virtual_devices_mb = {{10}}}),
            "virtual devices have limits of their own: per_process_gpu_memory_fraction and gpu_memory_limit_mb must "
            "not be given with them");
  EXPECT_EQ(ErrorOf({.virtual_devices_mb = {{600, 500}}}),
            "virtual devices of card 0 with 600+500 MiB: together they do not fit the card's 1000 MiB");
  EXPECT_EQ(ErrorOf({.virtual_devices_mb = {{10}, {1200}}}),
            "virtual devices of card 1 with 1200 MiB: one of 1200 MiB does not fit the card's 1000 MiB");
  EXPECT_EQ(ErrorOf({.virtual_devices_mb = {{10, 0}}}),
            "virtual devices of card 0 with 10+0 MiB: one of 0 MiB is none; each needs at least 1");
  EXPECT_EQ(ErrorOf({.virtual_devices_mb = {{1}, {1}, {1}}}),
            "virtual devices are given for 3 cards, but 2 are visible");
  EXPECT_EQ(ErrorOf({}, 3), "num_gpus is 3, but there are only 2: /device:GPU:0 (card 0), /device:GPU:1 (card 1)");
}

TEST(LogicalGpus, ASessionListsLogicalAndPhysicalNumbersTogether) {
  Graph graph;
  SessionOptions options;
  options.gpu.simulated_gpus = 3;
  options.gpu.visible_device_list = "2,0";
  Session session(&graph, options);
  const auto devices = session.Devices();
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[1].name, "/job:localhost/replica:0/task:0/device:GPU:0");
  EXPECT_EQ(devices[1].physical_id, 2);
  EXPECT_EQ(devices[1].description, "simulated GPU, card 2, 16384 MiB");
  EXPECT_EQ(devices[0].physical_id, -1);
}

TEST(LogicalGpus, GpusWithoutCardsAreRefusedWithTheWayToSimulateThem) {
  Graph graph;
  try {
    Session(&graph, {.num_gpus = 2});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "num_gpus is 2, but there is no GPU; --simulated_gpus=2 simulates as many on the CPU");
  }
}

}  // namespace muster
