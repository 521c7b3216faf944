#include "base/flush_denormals.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace muster {

#ifdef __SSE2__

FlushDenormals::FlushDenormals() : before_(_mm_getcsr()) {
  constexpr uint32_t kDenormalsAreZero = 1u << 6, kFlushToZero = 1u << 15;  // of operands, of results
  _mm_setcsr(before_ | kDenormalsAreZero | kFlushToZero);
}

FlushDenormals::~FlushDenormals() { _mm_setcsr(before_); }

#else

FlushDenormals::FlushDenormals() : before_(0) {}
FlushDenormals::~FlushDenormals() = default;

#endif

}  // namespace muster
