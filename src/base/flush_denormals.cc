#include "base/flush_denormals.h"

#include <utility>

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "base/check.h"

namespace muster {
namespace {

#ifdef __SSE2__
constexpr uint32_t kFlush = 1u << 6 | 1u << 15;  // operands, results
#else
constexpr uint32_t kFlush = 0;
#endif

thread_local int living = 0;
thread_local void (*at_end)() = nullptr;

}  // namespace

#ifdef __SSE2__
uint32_t DenormalMode() { return _mm_getcsr() & kFlush; }
void SetDenormalMode(uint32_t mode) {
  if (DenormalMode() != mode) _mm_setcsr((_mm_getcsr() & ~kFlush) | mode);
}
#else
uint32_t DenormalMode() { return 0; }
void SetDenormalMode(uint32_t) {}
#endif

FlushDenormals::FlushDenormals() : before_(DenormalMode()) {
  SetDenormalMode(kFlush);
  ++living;
}

FlushDenormals::~FlushDenormals() {
  SetDenormalMode(before_);
  --living;
  if (living == 0 && at_end != nullptr) std::exchange(at_end, nullptr)();
}

bool FlushDenormals::IsOnThisThread() { return living > 0; }

void FlushDenormals::AtEnd(void (*end)()) {
  MUSTER_CHECK(living > 0 && (at_end == nullptr || at_end == end));
  at_end = end;
}

}  // namespace muster
