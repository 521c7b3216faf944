#include "data/imagenet/make_cache.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "base/output_file.h"
#include "data/image/decode.h"
#include "data/image/resize.h"
#include "data/imagenet/image_cache.h"
#include "data/parallel.h"
#include "muster/error.h"

namespace muster::data {
namespace {

constexpr int64_t kChunk = 128;  // images in memory at a time

struct Decoded {
  RgbImage pixels;
  int32_t label = 0;
  std::vector<Box> boxes;
};

void MakeSmaller(int shorter_side, RgbImage* image) {
  const int shorter = std::min(image->height, image->width);
  if (shorter_side <= 0 || shorter <= shorter_side) return;
  const auto side = [&](int length) {
    return std::max(1, static_cast<int>(std::lround(static_cast<double>(length) * shorter_side / shorter)));
  };
  const ImageSize to{side(image->height), side(image->width)};
  std::vector<float> values(static_cast<size_t>(to.height) * static_cast<size_t>(to.width) * 3);
  Resize(*image, {ResizeMethod::kArea}, to, {0, 0, to.height, to.width}, false, values);
  image->Resize(to.height, to.width);
  std::transform(values.begin(), values.end(), image->pixels.begin(),
                 [](float value) { return static_cast<uint8_t>(std::clamp(std::lround(value), 0L, 255L)); });
}

// What OpenImageCache would not read is not written.
void CheckFits(const RgbImage& image, const std::string& where) {
  const int64_t longer = std::max(image.height, image.width), shorter = std::min(image.height, image.width);
  if (longer <= kMaxCachedSide) return;
  const int64_t helps = kMaxCachedSide * shorter / longer;  // at most this shorter side makes the longer one fit
  const std::string hint = helps > 0 ? fmt::format("; --shorter_side={} or less makes it fit", helps) : "";
  throw InvalidArgument(fmt::format("{}: the image is {} x {}; at most {} rows and columns fit into the file{}", where,
                                    image.height, image.width, kMaxCachedSide, hint));
}

void Read(const ImageSource& images, int64_t index, int shorter_side, Decoded* decoded) {
  EncodedImage image = images.Get(index);
  try {
    if (image.is_raw())
      CopyOut(image.mapped, image.raw_size, {0, 0, image.raw_size.height, image.raw_size.width}, &decoded->pixels);
    else DecodeImage(image.bytes, {}, {}, &decoded->pixels);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", images.Where(index), error.message()));
  }
  MakeSmaller(shorter_side, &decoded->pixels);
  CheckFits(decoded->pixels, images.Where(index));
  decoded->label = image.label;
  decoded->boxes = std::move(image.boxes);
}

}  // namespace

CacheFacts MakeImageCache(const ImageSource& images, const std::string& path, const CacheOptions& options) {
  const std::filesystem::path file(path);
  RemoveAbandonedFiles(file.parent_path().string(), file.filename().string());
  ImageCacheWriter writer(path);
  std::vector<Decoded> chunk(static_cast<size_t>(std::min(kChunk, images.size())));
  for (int64_t first = 0; first < images.size(); first += kChunk) {
    const int64_t count = std::min(kChunk, images.size() - first);
    ParallelFor(count, options.threads,
                [&](int64_t i) { Read(images, first + i, options.shorter_side, &chunk[static_cast<size_t>(i)]); });
    for (int64_t i = 0; i < count; ++i) {
      const Decoded& image = chunk[static_cast<size_t>(i)];
      writer.Append(image.pixels, image.label, image.boxes);
    }
  }
  writer.Close();
  return {images.size(), writer.size_bytes()};
}

}  // namespace muster::data
