#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/cpu/winograd_transform_simd.h"

// How images are cut into tiles, and how the planes of transformed tiles lie in memory.
namespace muster::cpu {

inline int64_t RoundUp(int64_t n, int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }
inline int64_t CeilDiv(int64_t n, int64_t by) { return (n + by - 1) / by; }

// All tiles of a batch of images, in row-major order.
struct WinogradTiles {
  int64_t batch, rows, columns;  // rows and columns of tiles per image
  int64_t size;                  // of a tile, per axis

  WinogradTiles(int64_t images, int64_t height, int64_t width, int64_t kernel)
      : batch(images), rows(0), columns(0), size(WinogradTile(kernel)) {
    rows = CeilDiv(height, size), columns = CeilDiv(width, size);
  }
  int64_t count() const { return batch * rows * columns; }

  // Calls body(i, image, top, left) for tiles begin + i in [begin, end), with the tile's first row and column in its
  // image.
  template <typename Body>
  void ForEach(int64_t begin, int64_t end, const Body& body) const {
    int64_t column = begin % columns, row = begin / columns % rows, image = begin / columns / rows;
    for (int64_t i = 0; i < end - begin; ++i) {
      body(i, image, row * size, column * size);
      if (++column < columns) continue;
      column = 0;
      if (++row < rows) continue;
      row = 0, ++image;
    }
  }
};

// 36 matrices of "rows" tiles by "channels". Strides avoid multiples of 4 KiB, which would all fall into one set of the
// first- level cache.
struct WinogradPlanes {
  int64_t rows, stride, plane_stride;  // floats

  WinogradPlanes(int64_t tiles, int64_t channels)
      : rows(tiles), stride(RoundUp(channels, kGemmPadding)), plane_stride(0) {
    if (stride % 256 == 0) stride += kGemmPadding;
    plane_stride = rows * stride;
    if (plane_stride % 32 == 0) plane_stride += kGemmPadding;
  }
  int64_t floats() const { return RoundUp(kWinogradPlanes * plane_stride, kGemmPadding); }
  WinogradRows row(float* planes, int64_t i) const { return {planes + i * stride, plane_stride}; }
};

}  // namespace muster::cpu
