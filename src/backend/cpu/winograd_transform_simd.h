#pragma once

#include <cstdint>

#include "backend/cpu/tile_gemm_simd.h"

// The transforms of Winograd's convolutions with six points per axis, 0, +-5/8, +-3/2 and infinity, for 3x3 and 5x5
// filters. Six points give m outputs of a filter of r taps where m + r = 7: F(4x4, 3x3) and F(2x2, 5x5). The filter's
// gradient comes from the same points the other way round: F(3x3, 4x4) gives 3x3 gradients from 4x4 elements of dy.
// Reference: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015. These points in place of the
// usual 0, +-1, +-2 halve the rounding error (F(4x4, 3x3): 1.1e-6 instead of 2.5e-6 of the outputs' size over 256
// channels; summing directly has 0.6e-6), and each is a multiple of 1/8, so all coefficients but the filter's
// reciprocals are exact.
//
// Transformed values form 36 matrices, "planes", whose rows are tiles and whose columns are channels.
namespace muster::cpu {

inline constexpr int64_t kWinogradPoints = 6;
inline constexpr int64_t kWinogradPlanes = kWinogradPoints * kWinogradPoints;
// Outputs per axis of a tile.
constexpr int64_t WinogradTile(int64_t kernel) { return kWinogradPoints + 1 - kernel; }

// A patch of an NHWC image whose first row and column may lie outside of it.
struct WinogradPatch {
  const float* image;
  int64_t height, width, channels;
  int64_t top, left;
};

// Where one row of each plane goes or comes from: channel c of plane p is at data[p * plane_stride + c]. Rows are
// padded to a multiple of kGemmPadding channels, whose values are 0 behind the transforms.
struct WinogradRows {
  float* data;
  int64_t plane_stride;
};

// Where a tile of outputs goes; the part outside of the image is dropped.
struct WinogradOutput {
  float* image;
  int64_t height, width, channels;
  int64_t top, left;
  const float* bias;  // nullptr: none
  bool relu;
};

struct WinogradTransformSimd {
  // 6x6 values around a tile, 0 outside of the image.
  void (*input)(const WinogradPatch&, const WinogradRows&);
  // A tile of dy, 0 outside.
  void (*gradient)(const WinogradPatch&, const WinogradRows&);
  void (*output)(const WinogradRows&, const WinogradOutput&);
  // Taps (r, s) of "columns" filters are at taps[(r * kernel + s) * tap_stride].
  void (*filter)(const float* taps, int64_t tap_stride, int64_t columns, const WinogradRows&);
  // The gradients of the taps of "columns" filters from the sums over all tiles.
  void (*filter_gradient)(const WinogradRows&, float* taps, int64_t tap_stride, int64_t columns);
  // sum[i] += part[i]
  void (*add)(const float* part, int64_t n, float* sum);
};

// For this CPU and filters of kernel x kernel taps, 3 or 5.
const WinogradTransformSimd& GetWinogradTransformSimd(int64_t kernel);

}  // namespace muster::cpu
