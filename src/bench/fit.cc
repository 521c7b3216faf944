#include "bench/fit.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/system_memory.h"

namespace muster::bench {
namespace {

constexpr double kMiB = 1 << 20;

// A plan's peak grows almost linearly with the batch; two small plans give the line, and a third confirms its answer.
int64_t LargestBatch(int64_t wanted, int64_t available, const std::function<int64_t(int64_t)>& peak_of) {
  const double one = static_cast<double>(peak_of(1)), two = static_cast<double>(peak_of(2));
  const double slope = std::max(two - one, 1.0);
  if (one > static_cast<double>(available)) return 0;
  const double room = 1 + (static_cast<double>(available) - one) / slope;
  int64_t batch = static_cast<int64_t>(std::min(room, static_cast<double>(wanted) - 1));
  while (batch > 1 && peak_of(batch) > available) batch = std::min(batch - 1, batch * 49 / 50);
  return std::max<int64_t>(batch, 1);
}

}  // namespace

int64_t AvailableBytes() { return SystemAvailableBytes(); }

Error DoesNotFit(int64_t batch, double needed, int64_t available, const std::function<int64_t(int64_t)>& peak_of) {
  const int64_t largest = LargestBatch(batch, available, peak_of);
  const std::string advice = largest > 0 ? fmt::format("the largest batch size that fits is {}", largest)
                                         : std::string("not even a batch of 1 fits");
  return {Code::kResourceExhausted, fmt::format("batch size {} needs {:.0f} MiB, but only {:.0f} MiB are available; {}", batch,
                                                needed / kMiB, static_cast<double>(available) / kMiB, advice)};
}

}  // namespace muster::bench
