#pragma once

#include "muster/layers.h"

namespace muster::zoo {

// The words that inception modules are written in. Convolutions and pools keep the size unless they say otherwise.
inline ColumnLayer Conv(int64_t filters, int64_t height, int64_t width) {
  return {ColumnLayer::Kind::kConv, filters, height, width, 1, Padding::kSame};
}
inline ColumnLayer ConvValid(int64_t filters, int64_t size, int64_t stride) {
  return {ColumnLayer::Kind::kConv, filters, size, size, stride, Padding::kValid};
}
inline ColumnLayer MaxPoolSame() { return {ColumnLayer::Kind::kMaxPool, 0, 3, 3, 1, Padding::kSame}; }
inline ColumnLayer AvgPoolSame() { return {ColumnLayer::Kind::kAvgPool, 0, 3, 3, 1, Padding::kSame}; }
// 3x3, stride 2, no padding: how a module halves the size.
inline ColumnLayer MaxPoolHalf() { return {ColumnLayer::Kind::kMaxPool, 0, 3, 3, 2, Padding::kValid}; }
inline ColumnLayer ConvHalf(int64_t filters) { return ConvValid(filters, 3, 2); }
inline ColumnLayer Share() { return {}; }

}  // namespace muster::zoo
