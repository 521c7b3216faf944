#include <algorithm>

#include "backend/cpu/kernels.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/random_simd.h"
#include "base/check.h"
#include "base/interrupt.h"
#include "base/random_stream.h"
#include "muster/error.h"

namespace muster::cpu {
namespace {

constexpr int64_t kGrain = 8192;              // elements worth waking a thread for
constexpr int64_t kUnitsBetweenLooks = 1024;  // for an interrupt

RandomFn LoopOf(OpKind kind) {
  const RandomSimd& simd = GetRandomSimd();
  switch (kind) {
    case OpKind::kRandomUniform: return simd.uniform;
    case OpKind::kRandomStandardNormal: return simd.normal;
    case OpKind::kTruncatedNormal: return simd.truncated_normal;
    default: MUSTER_CHECK(false);
  }
}

}  // namespace

// Any piece of a stream has the same bits whoever draws it, so threads share it out as they like. The first values of a
// large layer take more than a second, in which Ctrl-C may come.
PreparedKernel PrepareRandom(const KernelRequest& r, const DeviceCaps& caps) {
  const RandomAttrs& attrs = r.attr<RandomAttrs>();
  const Philox philox = RandomStream(r.seed, attrs.seed, r.name).philox();
  const int64_t size = r.out(0).num_elements(), units = (size + kRandomUnit - 1) / kRandomUnit;
  return {MakeKernel([=, loop = LoopOf(r.kind), threads = caps.threads](const LaunchArgs& a) {
    ParallelFor(threads, units, kGrain / kRandomUnit, [&](int64_t begin, int64_t end) {
      const int64_t whole = std::min(end, size / kRandomUnit);
      for (int64_t i = begin; i < whole; ++i) {
        if (a.may_stop && i % kUnitsBetweenLooks == 0 && Interrupted()) return;
        loop(philox, a.step, i * kRandomUnit, a.out<float>(0) + i * kRandomUnit);
      }
      if (whole == end) return;
      float last[kRandomUnit];  // the unit that the tensor ends in
      loop(philox, a.step, whole * kRandomUnit, last);
      std::copy_n(last, size - whole * kRandomUnit, a.out<float>(0) + whole * kRandomUnit);
    });
    if (a.may_stop && Interrupted()) throw Error(Code::kCancelled, "interrupted");
  })};
}

}  // namespace muster::cpu
