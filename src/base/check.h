#pragma once

// MUSTER_CHECK states what must be true if Muster itself has no bug. It never guards input: that is Error's task.

namespace muster {
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);
}  // namespace muster

#define MUSTER_CHECK(condition) ((condition) ? void(0) : ::muster::CheckFailed(__FILE__, __LINE__, #condition))
