#pragma once

#include <cstdint>
#include <string>

namespace muster {

constexpr int64_t kKiB = int64_t{1} << 10;
constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kGiB = int64_t{1} << 30;

// A byte count for people, in binary units: "512B", "2.00KiB", "1.50GiB".
std::string HumanBytes(int64_t bytes);

// The smallest multiple of "unit" (a power of two) that is at least "bytes".
constexpr int64_t RoundUp(int64_t bytes, int64_t unit) { return (bytes + unit - 1) & ~(unit - 1); }

}  // namespace muster
