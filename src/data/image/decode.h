#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "data/image/image.h"

namespace muster::data {

// How the inverse cosine transform of a JPEG is computed, in TensorFlow's words (dct_method of decode_jpeg).
enum class DctMethod { kIntegerAccurate, kIntegerFast };

// The defaults are what TensorFlow's decode_jpeg and decode_and_crop_jpeg do when nothing is said. PNG files take no
// notice.
struct DecodeOptions {
  DctMethod dct_method = DctMethod::kIntegerFast;
  bool fancy_upscaling = true;  // smooth interpolation of colours that are stored at half the resolution
};

// The functions below take the bytes of a JPEG or PNG file, told apart by their first bytes and not by a name: one
// image of the ImageNet set is a PNG that is called JPEG. Grey images become RGB, CMYK and YCCK are converted as
// TensorFlow does, an alpha channel is dropped. They throw DataLoss saying what is wrong with the bytes; whoever knows
// the file adds its name. Any thread may call them.

// Height and width, from the header alone.
ImageSize ReadImageSize(std::string_view bytes);

// Decodes the whole image, or the part that "window" names: of a JPEG, rows and blocks outside of it are skipped as far
// as the format allows (as decode_and_crop_jpeg does). Returns what the decoder found odd but could live with (for
// example bytes that belong nowhere); "" if nothing. An image that ends too early is an error.
std::string DecodeImage(std::string_view bytes, const DecodeOptions& options, const std::optional<CropWindow>& window,
                        RgbImage* image);

// Keeps a part of a decoded image; or copies it from pixels that lie elsewhere.
void CutOut(const CropWindow& window, RgbImage* image);
void CopyOut(std::string_view pixels, const ImageSize& size, const CropWindow& window, RgbImage* image);

// The two formats.
bool IsJpeg(std::string_view bytes);
bool IsPng(std::string_view bytes);
ImageSize ReadJpegSize(std::string_view bytes);
ImageSize ReadPngSize(std::string_view bytes);
std::string DecodeJpeg(std::string_view bytes, const DecodeOptions& options, const std::optional<CropWindow>& window,
                       RgbImage* image);
std::string DecodePng(std::string_view bytes, RgbImage* image);

}  // namespace muster::data
