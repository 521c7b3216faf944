#include <gtest/gtest.h>

#include "base/random_stream.h"
#include "tests/backend/cpu/kernel_runner.h"

namespace muster::cpu {
namespace {

TEST(Random, HasTheBitsOfItsStreamWithAnyNumberOfThreads) {
  for (int64_t size : {1, 63, 64, 65, 100003}) {
    const RandomAttrs attrs{.shape = {size}, .seed = 7};
    const RandomStream stream(42, 7, "some/name");
    std::vector<float> uniform(static_cast<size_t>(size)), normal(uniform), truncated(uniform);
    stream.FillUniform(3, 0, uniform);
    stream.FillNormal(3, 0, normal);
    stream.FillTruncatedNormal(3, 0, truncated);
    for (int threads : {1, 2, 3}) {
      const RunOptions options{.threads = threads, .step = 3, .seed = 42, .name = "some/name"};
      const auto check = [&](OpKind kind, const std::vector<float>& expected) {
        ExpectEqualBits(RunKernel(kind, attrs, {}, {F32({size})}, options)[0], Tensor::Of<float>({size}, expected));
      };
      check(OpKind::kRandomUniform, uniform);
      check(OpKind::kRandomStandardNormal, normal);
      check(OpKind::kTruncatedNormal, truncated);
    }
  }
}

}  // namespace
}  // namespace muster::cpu
