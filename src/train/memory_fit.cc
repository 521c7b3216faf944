#include "train/memory_fit.h"

#include <fmt/format.h>

#include "base/system_memory.h"
#include "muster/error.h"

namespace muster::train {
namespace {

std::string Gibibytes(int64_t bytes) { return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30)); }

// The largest batch within the limit: found by halving, then made larger on the line through the last two points, as
// memory grows linearly with the batch.
int64_t LargestFitting(int64_t batch_size, int64_t planned_bytes, int64_t limit_bytes, const std::function<int64_t(int64_t)>& planned) {
  int64_t above = batch_size, above_bytes = planned_bytes;
  while (above > 1) {
    const int64_t below = above / 2;
    const int64_t below_bytes = planned(below);
    if (below_bytes > limit_bytes) {
      above = below;
      above_bytes = below_bytes;
      continue;
    }
    const double per_image = static_cast<double>(above_bytes - below_bytes) / static_cast<double>(above - below);
    const auto more = static_cast<int64_t>(static_cast<double>(limit_bytes - below_bytes) / per_image);
    const int64_t guess = below + more;
    return guess > below && planned(guess) <= limit_bytes ? guess : below;
  }
  return 0;
}

}  // namespace

void CheckFitsMemory(int64_t batch_size, int64_t planned_bytes, int64_t limit_bytes, const std::function<int64_t(int64_t)>& planned,
                     std::string_view flag) {
  if (planned_bytes <= limit_bytes) return;
  const int64_t fits = LargestFitting(batch_size, planned_bytes, limit_bytes, planned);
  const std::string advice = fits > 0 ? fmt::format("--{}={} would fit", flag, fits) : "not even a batch of one image fits";
  throw Error(Code::kResourceExhausted, fmt::format("--{}={} needs {} of memory, {} are free; {}", flag, batch_size, Gibibytes(planned_bytes),
                                                    Gibibytes(limit_bytes), advice));
}

int64_t FreeMemory() { return ReadSystemMemory().free(); }

}  // namespace muster::train
