#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/output_file.h"
#include "data/imagenet/image_source.h"

namespace muster::data {

// A file of decoded images, so that no step has to decode them: it is mapped into memory and read at random.
//
//   16 bytes   "muster images 1\n"
//   images     for each: height x width x 3 bytes (rows, red green blue), then its boxes (ymin, xmin, ymax, xmax as
//   float32);
//              each begins at a multiple of 64
//   index      for each image 32 bytes: offset (uint64), height, width, label, number of boxes (uint32 each), CRC-32C
//   of the
//              image and its boxes (uint32, masked as in TFRecord files), 0 (uint32)
//   32 bytes   offset of the index (uint64), number of images (uint64), CRC of the index (uint32), CRC of the 20 bytes
//   before
//              (uint32), "images 1"
//
// Numbers are little-endian.

inline constexpr int kMaxCachedSide = 2 * INT16_MAX;  // rows and columns that an image may have

// The name of a data set's part in a folder: "train.images".
std::string ImageCacheName(std::string_view subset);

// Writes such a file. It appears whole, with Close, or not at all. Every failure throws Error naming the path.
class ImageCacheWriter {
 public:
  explicit ImageCacheWriter(const std::string& path);
  // Sides are 1 to kMaxCachedSide.
  void Append(const RgbImage& image, int32_t label, const std::vector<Box>& boxes);
  void Close();
  int64_t size_bytes() const { return file_.size(); }

 private:
  OutputFile file_;
  std::string index_;
  int64_t count_ = 0;
};

// Opens it: images come as pixels, not as files. Labels are to be below "num_classes". Throws Error naming the file and
// what is wrong; an image whose bytes are damaged, and a file that has become shorter, is found when an image is read.
std::unique_ptr<ImageSource> OpenImageCache(const std::filesystem::path& path, int num_classes);

}  // namespace muster::data
