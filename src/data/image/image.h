#pragma once

#include <cstdint>
#include <vector>

namespace muster::data {

// A decoded image: height x width x 3 bytes, red, green, blue. The vector keeps its memory from image to image.
struct RgbImage {
  int height = 0;
  int width = 0;
  std::vector<uint8_t> pixels;

  void Resize(int new_height, int new_width) {
    height = new_height;
    width = new_width;
    pixels.resize(static_cast<size_t>(height) * static_cast<size_t>(width) * 3);
  }
  uint8_t* row(int y) { return pixels.data() + static_cast<size_t>(y) * static_cast<size_t>(width) * 3; }
  const uint8_t* row(int y) const { return pixels.data() + static_cast<size_t>(y) * static_cast<size_t>(width) * 3; }
};

struct ImageSize {
  int height = 0;
  int width = 0;

  friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

// A part of an image, in pixels.
struct CropWindow {
  int y = 0;
  int x = 0;
  int height = 0;
  int width = 0;

  bool IsInside(const ImageSize& size) const {
    return y >= 0 && x >= 0 && height > 0 && width > 0 && y <= size.height - height && x <= size.width - width;
  }
  friend bool operator==(const CropWindow&, const CropWindow&) = default;
};

// Where an object is in an image: shares of its height and width, 0 to 1.
struct Box {
  float ymin = 0;
  float xmin = 0;
  float ymax = 0;
  float xmax = 0;

  friend bool operator==(const Box&, const Box&) = default;
};

// No image may have more bytes when it is decoded: what a few bytes of header claim must not take all memory.
inline constexpr int64_t kMaxDecodedBytes = int64_t{1} << 29;

}  // namespace muster::data
