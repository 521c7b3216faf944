#pragma once

#include <cstdint>
#include <functional>

namespace muster::data {

// Calls work(0) … work(count - 1) on several threads (at most "threads"; 0: one per core, at most 16) and waits for
// all. The error of the smallest number that threw is thrown again, so that what is reported does not depend on timing;
// numbers after it may not have been worked on. Ctrl-C: Error{Cancelled}.
void ParallelFor(int64_t count, int threads, const std::function<void(int64_t)>& work);

}  // namespace muster::data
