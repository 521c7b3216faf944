#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "muster/error.h"

namespace muster::data {

// The IDX format (Y. LeCun, "The MNIST database", 1998): two zero bytes, the element type (0x08: unsigned byte), the
// number of dimensions, each dimension as a big-endian 32-bit number, then the elements in row-major order. Files may
// be packed with gzip. Every malformed file throws Error with one line naming the file, the (unpacked) byte offset, and
// what was expected there. Memory is allocated only after the announced size was checked against the file's real size
// and kMaxIdxBytes.
inline constexpr int64_t kMaxIdxBytes = int64_t{1} << 36;
inline constexpr int64_t kMaxIdxImageSide = 1 << 14;
inline constexpr int64_t kMaxIdxChannels = 4;

// Images of one size, pixels 0 to 255, in the order count, height, width, channels.
struct IdxImages {
  int64_t count = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 1;
  std::vector<uint8_t> pixels;

  int64_t image_bytes() const { return height * width * channels; }
};

// A file of three dimensions (grey images) or four (the last one the channels).
IdxImages ReadIdxImages(const std::filesystem::path& path);
// The same, read to its end and checked, but without keeping the pixels.
IdxImages CheckIdxImages(const std::filesystem::path& path);
// The sizes alone, from the header.
IdxImages ReadIdxImageHeader(const std::filesystem::path& path);

// A file of one dimension: one label per image, each below "num_classes" (at most 256). "images_path" and "image_count"
// say which images they belong to, for the error if the counts differ; kAnyCount if nobody knows.
inline constexpr int64_t kAnyCount = -1;
std::vector<uint8_t> ReadIdxLabels(const std::filesystem::path& path, int num_classes,
                                   const std::filesystem::path& images_path, int64_t image_count);
// Labels that are too large: how many, and what is to be said of the first of them.
struct BadLabels {
  static constexpr int64_t kMostNamed = 100;
  int64_t count = 0;
  std::vector<Error> named;
};
// The same, but fills in "bad" in place of throwing at the first bad label.
std::vector<uint8_t> ReadIdxLabels(const std::filesystem::path& path, int num_classes,
                                   const std::filesystem::path& images_path, int64_t image_count, BadLabels* bad);

}  // namespace muster::data
