#pragma once

#include <algorithm>
#include <cstdint>

#include <omp.h>

namespace muster::cpu {

// Work below this many bytes per thread stays on the calling thread: waking the team costs about as much as moving
// them.
inline constexpr int64_t kGrainBytes = 32 * 1024;

// To be called before a parallel region of "threads" members, one of a library's too: if a FlushDenormals lives on this
// thread, its team flushes denormals as well until that ends, and is then again as this thread is. A team that began
// before, in the user's own region for one, would not know of it. A look, but for the first region under an outermost
// FlushDenormals, which costs two more.
void FlushInTeam(int threads);

// To be called before a library's parallel region in which each member takes aligned memory from the heap: tells the
// heaps of this thread's team once what base/heap.h says.
void KeepHeapWholeInTeam(int threads);

// Calls body(begin, end) on the OpenMP team so that the ranges cover [0, n) exactly once. The ranges depend on
// "threads", n and grain (the least number of items worth a thread) alone. The team always has "threads" members,
// because libgomp starts new threads when a team changes its size.
template <typename Body>
void ParallelFor(int threads, int64_t n, int64_t grain, const Body& body) {
  const int64_t parts = std::min<int64_t>(threads, n / std::max<int64_t>(grain, 1));
  if (parts <= 1) {
    if (n > 0) body(int64_t{0}, n);
    return;
  }
  FlushInTeam(threads);
#pragma omp parallel num_threads(threads)
  {
    const int64_t team = omp_get_num_threads();
    for (int64_t part = omp_get_thread_num(); part < parts; part += team) {
      const int64_t begin = n * part / parts, end = n * (part + 1) / parts;
      if (begin < end) body(begin, end);
    }
  }
}

// Calls body(i) for each i in [0, n): each thread takes one contiguous run of them. For reductions: n pieces fixed by
// the problem, whatever the number of threads, whose results the caller then combines in order.
template <typename Body>
void ParallelItems(int threads, int64_t n, bool inline_only, const Body& body) {
  ParallelFor(inline_only ? 1 : threads, n, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

// Items that make up kGrainBytes, at bytes_per_item each.
inline int64_t GrainFor(int64_t bytes_per_item) {
  return std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(bytes_per_item, 1));
}

}  // namespace muster::cpu
