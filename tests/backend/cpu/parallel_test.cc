// The OpenMP team: regions of the user, of ParallelFor and of oneDNN run on the same threads, and the user's find it as
// it was.

#include "backend/cpu/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <limits>
#include <thread>

#include "base/flush_denormals.h"
#include "tests/backend/cpu/kernel_runner.h"

namespace muster::cpu {
namespace {

using testing::Each;

constexpr int kThreads = 4;

// A product of matrices that oneDNN computes.
void RunPrimitive() {
  const Tensor a = Random({64, 64}, 1), b = Random({64, 64}, 2);
  RunKernel(OpKind::kMatMul, MatMulAttrs{}, {a, b}, {F32({64, 64})}, {.threads = kThreads});
}

TEST(Team, OfTheUsersOwnRegionsHasTheSizeItHadBeforeAPrimitiveRan) {
  omp_set_num_threads(kThreads + 3);
  RunPrimitive();
  EXPECT_EQ(omp_get_max_threads(), kThreads + 3);
}

#ifdef __SSE2__

// Half of the smallest normal number; volatile, so that the compiler does not compute it.
float HalfOfTheSmallest() {
  volatile float smallest = std::numeric_limits<float>::min();
  return smallest / 2;
}

// What each thread makes of it in a region that is not ours. Compared when denormals are not zeros: a comparison would
// take them so too.
std::vector<float> InAnyRegion() {
  std::vector<float> seen(kThreads, -1);
#pragma omp parallel for num_threads(kThreads) schedule(static, 1)
  for (int i = 0; i < kThreads; ++i) seen[static_cast<size_t>(i)] = HalfOfTheSmallest();
  return seen;
}

std::vector<float> InParallelFor() {
  std::vector<float> seen(kThreads, -1);
  ParallelItems(kThreads, kThreads, false, [&](int64_t i) { seen[static_cast<size_t>(i)] = HalfOfTheSmallest(); });
  return seen;
}

TEST(DenormalsInTheTeam, AreZerosWhileItsThreadFlushesThoughItBeganBefore) {
  const float denormal = HalfOfTheSmallest();
  ASSERT_GT(denormal, 0);
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(InAnyRegion(), Each(denormal));
    std::vector<float> ours, others;
    {
      const FlushDenormals flush;
      ours = InParallelFor();
      others = InAnyRegion();
    }
    EXPECT_THAT(ours, Each(0));
    EXPECT_THAT(others, Each(0));
  }
  EXPECT_THAT(InAnyRegion(), Each(denormal));
  EXPECT_THAT(InParallelFor(), Each(denormal));
}

TEST(DenormalsInTheTeam, AreZerosInOneDnnsRegions) {
  const float denormal = HalfOfTheSmallest();
  EXPECT_THAT(InAnyRegion(), Each(denormal));
  std::vector<float> others;
  {
    const FlushDenormals flush;
    RunPrimitive();
    others = InAnyRegion();
  }
  EXPECT_THAT(others, Each(0));
  EXPECT_THAT(InAnyRegion(), Each(denormal));
}

TEST(DenormalsInTheTeam, AreThemselvesAgainInOneThatBeganMeanwhile) {
  const float denormal = HalfOfTheSmallest();
  std::vector<float> within, afterwards;
  std::thread([&] {  // whose first region is ours
    {
      const FlushDenormals flush;
      within = InParallelFor();
    }
    afterwards = InAnyRegion();
  })
      .join();
  EXPECT_THAT(within, Each(0));
  EXPECT_THAT(afterwards, Each(denormal));
}

#endif

}  // namespace
}  // namespace muster::cpu
