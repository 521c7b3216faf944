#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/image/image.h"

namespace muster::data {

// An image as it is stored.
struct EncodedImage {
  std::string bytes;        // a JPEG or PNG file
  std::string_view mapped;  // or, unless raw_size is empty: pixels that live as long as the source, as in RgbImage
  ImageSize raw_size;       // of those
  int32_t label = 0;
  std::vector<Box> boxes;  // of the objects it shows; may be empty

  bool is_raw() const { return raw_size.height > 0; }
};

// Stored images of any size with a class each, read when they are asked for. Immutable after construction: any number
// of threads may call Get.
class ImageSource {
 public:
  virtual ~ImageSource() = default;
  virtual int64_t size() const = 0;

  // Image "index" (0 <= index < size()). Throws Error naming file and place for what cannot be read or is damaged.
  virtual EncodedImage Get(int64_t index) const = 0;
  // File and place of an image, for messages: "train-00000-of-00001: record 3 at byte 5296".
  virtual std::string Where(int64_t index) const = 0;

  // How many images each record file holds, in the order of their numbers; empty if they are not in record files.
  virtual std::vector<int64_t> record_file_sizes() const { return {}; }
};

}  // namespace muster::data
