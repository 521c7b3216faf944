#include "data/imagenet/preprocess.h"

#include <algorithm>
#include <numbers>
#include <string_view>

#include "base/check.h"
#include "data/image/colour.h"
#include "data/image/crop.h"
#include "data/image/decode.h"
#include "data/image/random_numbers.h"

namespace muster::data {
namespace {

constexpr std::string_view kStream = "data/preprocess";
constexpr float kMeans[3] = {123.68f, 116.78f, 103.94f};  // of ImageNet's channels, as VGG's authors had them
constexpr float kScaleFactor = 1.145f;                    // 256 / 224, nearly
constexpr int kShorterSide = 256;
constexpr ResizeMethod kInTurn[] = {ResizeMethod::kNearest, ResizeMethod::kBilinear, ResizeMethod::kBicubic,
                                    ResizeMethod::kArea};

// One per thread, so that its memory is taken once.
RgbImage* Scratch() {
  thread_local RgbImage image;
  return &image;
}

ImageSize SizeOf(const EncodedImage& image) { return image.is_raw() ? image.raw_size : ReadImageSize(image.bytes); }

// The whole image, or a part, from the file or from the pixels. Always with the fast transform and with colours
// interpolated smoothly: tf_cnn_benchmarks and the model garden leave the latter at TensorFlow's default wherever they
// decode.
void Decode(const EncodedImage& image, const std::optional<CropWindow>& window, RgbImage* decoded) {
  const CropWindow all{0, 0, image.raw_size.height, image.raw_size.width};
  if (image.is_raw()) CopyOut(image.mapped, image.raw_size, window.value_or(all), decoded);
  else DecodeImage(image.bytes, {}, window, decoded);
}

// Resizes and keeps the middle.
void ResizeAndCrop(const RgbImage& image, ResizeMethod method, const ImageSize& resized, const ImageSize& to,
                   std::span<float> out) {
  const CropWindow middle{(resized.height - to.height) / 2, (resized.width - to.width) / 2, to.height, to.width};
  Resize(image, {method}, resized, middle, false, out);
}

}  // namespace

void EvaluationCrop(const RgbImage& image, ResizeMethod method, const ImageSize& to, std::span<float> out) {
  const auto height = static_cast<float>(image.height), width = static_cast<float>(image.width);
  const float ratio = std::max(static_cast<float>(to.height) / height, static_cast<float>(to.width) / width);
  const ImageSize resized{static_cast<int>(height * ratio * kScaleFactor),
                          static_cast<int>(width * ratio * kScaleFactor)};
  ResizeAndCrop(image, method, resized, to, out);
}

void DistortColour(std::span<float> rgb, bool in_yiq, int64_t order, RandomNumbers* random) {
  for (float& value : rgb) value *= 1.0f / 255;
  AdjustBrightness(rgb, random->Uniform(-32.0f / 255, 32.0f / 255));
  const float contrast = random->Uniform(0.5f, 1.5f), saturation = random->Uniform(0.5f, 1.5f),
              hue = random->Uniform(-0.2f, 0.2f);
  if (order % 2 != 0) AdjustContrast(rgb, contrast);
  if (in_yiq) {
    AdjustHueAndSaturationInYiq(rgb, hue * std::numbers::pi_v<float>, saturation);
  } else {
    AdjustSaturation(rgb, saturation);
    AdjustHue(rgb, hue);
  }
  if (order % 2 == 0) AdjustContrast(rgb, contrast);
  for (float& value : rgb) value = std::clamp(value, 0.0f, 1.0f) * 255;
}

Preprocessor::Preprocessor(const PreprocessOptions& options)
    : options_(options), random_(options.seed, HashName(kStream.data(), kStream.size())) {
  MUSTER_CHECK(options_.size > 0 && options_.batch_size > 0);
}

void Preprocessor::operator()(const EncodedImage& image, int64_t index, uint64_t epoch, std::span<float> out) const {
  MUSTER_CHECK(out.size() == static_cast<size_t>(options_.size) * static_cast<size_t>(options_.size) * 3);
  if (options_.train) Train(image, index, epoch, out);
  else Evaluate(image, index, out);
  Scale(out);
}

ResizeMethod Preprocessor::MethodOf(int64_t index) const {
  return options_.resize_method.value_or(kInTurn[index % options_.batch_size % 4]);
}

void Preprocessor::Train(const EncodedImage& image, int64_t index, uint64_t epoch, std::span<float> out) const {
  RandomNumbers random(random_, epoch, static_cast<uint64_t>(index));
  const std::span<const Box> boxes = options_.ignore_boxes ? std::span<const Box>() : std::span<const Box>(image.boxes);
  const CropWindow crop = DrawCrop(SizeOf(image), boxes, {}, &random);
  const bool mirrored = random.Coin();
  RgbImage* decoded = Scratch();
  const ImageSize to{options_.size, options_.size};
  const CropWindow all{0, 0, to.height, to.width};
  if (options_.fuse_decode_and_crop || image.is_raw()) {
    Decode(image, crop, decoded);
  } else {
    Decode(image, {}, decoded);
    CutOut(crop, decoded);
  }
  Resize(*decoded, {MethodOf(index)}, to, all, mirrored, out);
  if (options_.distortions) DistortColour(out, options_.distort_color_in_yiq, index, &random);
}

void Preprocessor::Evaluate(const EncodedImage& image, int64_t index, std::span<float> out) const {
  RgbImage* decoded = Scratch();
  const ImageSize to{options_.size, options_.size};
  Decode(image, {}, decoded);
  if (!options_.official_models) return EvaluationCrop(*decoded, MethodOf(index), to, out);
  // The model garden stops at models that are larger than 256; they keep the proportion to 224.
  const auto shorter =
      static_cast<float>(options_.size <= kShorterSide ? kShorterSide : kShorterSide * options_.size / 224);
  const float ratio = shorter / static_cast<float>(std::min(decoded->height, decoded->width));
  const auto side = [&](int length) {
    return std::max(static_cast<int>(static_cast<float>(length) * ratio), options_.size);
  };
  ResizeAndCrop(*decoded, ResizeMethod::kBilinear, {side(decoded->height), side(decoded->width)}, to, out);
}

void Preprocessor::Scale(std::span<float> out) const {
  if (!options_.subtract_means) {
    for (float& value : out) value = value * (1.0f / 127.5f) - 1;
    return;
  }
  for (size_t i = 0; i < out.size(); i += 3)
    for (size_t c = 0; c < 3; ++c) out[i + c] -= kMeans[c];
}

}  // namespace muster::data
