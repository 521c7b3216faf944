#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace muster::train {

// Throws Error{ResourceExhausted} if a plan of "planned_bytes" for "batch_size" images, the value of --"flag", exceeds
// "limit_bytes". The message says which batch would fit: "planned" gives the bytes for another batch size and is only
// asked then, a few times, for smaller ones.
void CheckFitsMemory(int64_t batch_size, int64_t planned_bytes, int64_t limit_bytes, const std::function<int64_t(int64_t)>& planned,
                     std::string_view flag = "batch_size");

// What this process may still take: free memory of the machine or of its control group.
int64_t FreeMemory();

}  // namespace muster::train
