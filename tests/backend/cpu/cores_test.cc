#include "backend/cpu/cores.h"

#include <sched.h>

#include <set>
#include <thread>

#include <gtest/gtest.h>

namespace muster {

TEST(Cores, DevicesGetWholeNeighbouringCoresOfTheirOwn) {
  const std::vector<HardwareThreads> cores{{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  EXPECT_EQ(DealCores(cores, 2), (std::vector<HardwareThreads>{{0, 4, 1, 5}, {2, 6, 3, 7}}));
  EXPECT_EQ(DealCores(cores, 3), (std::vector<HardwareThreads>{{0, 4}, {1, 5}, {2, 6}}));
  EXPECT_EQ(DealCores(cores, 1)[0].size(), 8u);
}

TEST(Cores, MoreDevicesThanCoresRunAnywhere) { EXPECT_EQ(DealCores({{0}, {1}}, 3), std::vector<HardwareThreads>(3)); }

TEST(Cores, UsableOnesAreTheThreadsThatTheMaskLeaves) {
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof(mask), &mask), 0);
  std::set<int> found;
  for (const HardwareThreads& core : UsableCores())
    for (int thread : core) {
      EXPECT_TRUE(CPU_ISSET(thread, &mask)) << thread;
      EXPECT_TRUE(found.insert(thread).second) << thread << " belongs to two cores";
    }
  EXPECT_EQ(static_cast<int>(found.size()), CPU_COUNT(&mask));
}

TEST(Cores, ABoundThreadAndThoseItStartsStayThere) {
  const int first = UsableCores()[0][0];
  std::thread([&] {
    BindThisThread({first});
    std::thread([&] {
      cpu_set_t mask;
      ASSERT_EQ(sched_getaffinity(0, sizeof(mask), &mask), 0);
      EXPECT_EQ(CPU_COUNT(&mask), 1);
      EXPECT_TRUE(CPU_ISSET(first, &mask));
    }).join();
  }).join();
}

}  // namespace muster
