#include "benchmarks/roofline/bandwidth.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "muster/error.h"

namespace muster::roofline {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kElements = size_t{64} << 20;  // 256 MiB per array

double Seconds(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Pages that were never written are all one page of zeros, which sits in the cache.
void Fill(float* a, float value) {
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < kElements; ++i) a[i] = value;
}

void Triad(float* __restrict a, const float* __restrict b, const float* __restrict c) {
#pragma omp parallel for simd schedule(static)
  for (size_t i = 0; i < kElements; ++i) a[i] = b[i] + 0.5f * c[i];
}

// Streaming stores save the read of the line that an ordinary store begins with. 128 bits are enough to saturate
// memory.
void StreamingTriad(float* __restrict a, const float* __restrict b, const float* __restrict c) {
#ifdef __SSE2__
#pragma omp parallel
  {
    const __m128 s = _mm_set1_ps(0.5f);
#pragma omp for schedule(static)
    for (size_t i = 0; i < kElements; i += 16) {
      for (size_t j = i; j < i + 16; j += 4) {
        _mm_stream_ps(a + j, _mm_add_ps(_mm_load_ps(b + j), _mm_mul_ps(s, _mm_load_ps(c + j))));
      }
    }
    _mm_sfence();
  }
#else
  Triad(a, b, c);
#endif
}

}  // namespace

HugeBuffer::HugeBuffer(size_t bytes) : bytes_((bytes + kHugePage - 1) / kHugePage * kHugePage) {
  bytes_ = std::max(bytes_, kHugePage);
  data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED) throw Error(Code::kResourceExhausted, "no memory for a buffer of " + std::to_string(bytes_));
  madvise(data_, bytes_, MADV_HUGEPAGE);  // a wish: without huge pages everything works, only slower
}

HugeBuffer::HugeBuffer(HugeBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

HugeBuffer::~HugeBuffer() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

double MeasureBandwidth(int repetitions) {
  const HugeBuffer a(kElements * sizeof(float)), b(kElements * sizeof(float)), c(kElements * sizeof(float));
  for (const HugeBuffer* buffer : {&a, &b, &c}) Fill(buffer->as<float>(), 1.0f);
  double best = 0;
  for (auto* triad : {Triad, StreamingTriad}) {
    triad(a.as<float>(), b.as<float>(), c.as<float>());
    for (int i = 0; i < repetitions; ++i) {
      const auto start = std::chrono::steady_clock::now();
      triad(a.as<float>(), b.as<float>(), c.as<float>());
      best = std::max(best, 3.0 * kElements * sizeof(float) / Seconds(start));
    }
  }
  return best;
}

}  // namespace muster::roofline
