#pragma once

#include <cstdint>
#include <string>

#include "data/imagenet/image_source.h"

namespace muster::data {

struct CacheOptions {
  int shorter_side =
      0;            // larger images are made smaller (area method) until their shorter side is so long; 0: none are
  int threads = 0;  // 0: one per core
};

struct CacheFacts {
  int64_t images = 0;
  int64_t bytes = 0;  // of the file
};

// Decodes all images and writes them as a file that OpenImageCache reads. The file does not depend on the number of
// threads. Images are decoded as for evaluation, so that evaluating from the file gives each the same bits where none
// was made smaller. An evaluation of a part of them takes others than from record files: reading_order.h. Throws the
// Error of the first image that cannot be read or has more than kMaxCachedSide rows or columns, and leaves no file
// then. What a run that was killed left of this file is removed.
CacheFacts MakeImageCache(const ImageSource& images, const std::string& path, const CacheOptions& options);

}  // namespace muster::data
