#include "backend/cpu/kernels.h"
#include "backend/cpu/parallel.h"
#include "base/check.h"
#include "base/random_stream.h"

namespace muster::cpu {
namespace {

constexpr int64_t kGrain = 4096;  // elements: drawing one costs as much as moving about 10 bytes
constexpr int64_t kUnit = 64;     // elements that RandomStream makes at once; pieces begin at multiples of it

template <typename Fill>
PreparedKernel Fills(const KernelRequest& r, int threads, const Fill& fill) {
  const RandomAttrs& attrs = r.attr<RandomAttrs>();
  const RandomStream stream(r.seed, attrs.seed, r.name);
  const int64_t size = r.out(0).num_elements(), units = (size + kUnit - 1) / kUnit;
  return {MakeKernel([=](const LaunchArgs& a) {
    ParallelFor(threads, units, kGrain / kUnit, [&](int64_t begin, int64_t end) {
      const int64_t first = begin * kUnit, count = std::min(end * kUnit, size) - first;
      fill(stream, a.step, first, std::span<float>(a.out<float>(0) + first, static_cast<size_t>(count)));
    });
  })};
}

}  // namespace

// Any piece of a stream has the same bits whoever draws it, so threads share it out as they like.
PreparedKernel PrepareRandom(const KernelRequest& r, const DeviceCaps& caps) {
  using Out = std::span<float>;
  switch (r.kind) {
    case OpKind::kRandomUniform:
      return Fills(r, caps.threads, [](const RandomStream& s, int64_t step, int64_t first, Out out) { s.FillUniform(step, first, out); });
    case OpKind::kRandomStandardNormal:
      return Fills(r, caps.threads, [](const RandomStream& s, int64_t step, int64_t first, Out out) { s.FillNormal(step, first, out); });
    case OpKind::kTruncatedNormal:
      return Fills(r, caps.threads, [](const RandomStream& s, int64_t step, int64_t first, Out out) { s.FillTruncatedNormal(step, first, out); });
    default: MUSTER_CHECK(false);
  }
}

}  // namespace muster::cpu
