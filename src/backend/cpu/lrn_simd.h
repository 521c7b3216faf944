#pragma once

#include <cstdint>

namespace muster::cpu {

// Local response normalisation of one row of channels: s[c] = bias + alpha * (sum of x^2 over c-r .. c+r), y = x /
// s^beta.
struct LrnRow {
  int64_t channels, radius;
  float bias, alpha, beta;
};

struct LrnSimd {
  // "scratch" has LrnScratchFloats(row) floats.
  void (*forward)(const LrnRow& row, const float* x, float* scratch, float* y);
  // dx[c] = dy[c] / s[c]^beta - 2 * alpha * beta * x[c] * (sum of dy * y / s over c-r .. c+r)
  void (*backward)(const LrnRow& row, const float* dy, const float* x, const float* y, float* scratch, float* dx);
};

// Two rows with room for a window that looks past both ends, and for whole vectors behind them.
inline int64_t LrnScratchFloats(const LrnRow& row) { return 2 * (row.channels + 2 * row.radius + 2 * 16); }

// For this CPU.
const LrnSimd& GetLrnSimd();

}  // namespace muster::cpu
