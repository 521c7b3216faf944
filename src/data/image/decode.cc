#include "data/image/decode.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "muster/error.h"

namespace muster::data {
namespace {

// Bytes that are no image: what they begin with helps to see what they are.
Error UnknownFormat(std::string_view bytes) {
  if (bytes.empty()) return DataLoss("the image has no bytes");
  std::string head;
  for (const char c : bytes.substr(0, 4)) head += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return DataLoss(fmt::format("neither a JPEG nor a PNG image: it begins with 0x{}", head));
}

}  // namespace

void CutOut(const CropWindow& window, RgbImage* image) {
  RgbImage part;
  const std::string_view pixels(reinterpret_cast<const char*>(image->pixels.data()), image->pixels.size());
  CopyOut(pixels, {image->height, image->width}, window, &part);
  std::swap(*image, part);
}

void CopyOut(std::string_view pixels, const ImageSize& size, const CropWindow& window, RgbImage* image) {
  MUSTER_CHECK(window.IsInside(size) &&
               pixels.size() == static_cast<size_t>(size.height) * static_cast<size_t>(size.width) * 3);
  image->Resize(window.height, window.width);
  for (int y = 0; y < window.height; ++y) {
    const int64_t first = (int64_t{window.y + y} * size.width + window.x) * 3;
    std::copy_n(reinterpret_cast<const uint8_t*>(pixels.data()) + first, static_cast<size_t>(window.width) * 3,
                image->row(y));
  }
}

bool IsJpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }
bool IsPng(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }

ImageSize ReadImageSize(std::string_view bytes) {
  if (IsJpeg(bytes)) return ReadJpegSize(bytes);
  if (IsPng(bytes)) return ReadPngSize(bytes);
  throw UnknownFormat(bytes);
}

std::string DecodeImage(std::string_view bytes, const DecodeOptions& options, const std::optional<CropWindow>& window,
                        RgbImage* image) {
  if (IsJpeg(bytes)) return DecodeJpeg(bytes, options, window, image);
  if (!IsPng(bytes)) throw UnknownFormat(bytes);
  std::string odd = DecodePng(bytes, image);
  if (window) CutOut(*window, image);
  return odd;
}

}  // namespace muster::data
