#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/philox.h"
#include "data/image/resize.h"
#include "data/imagenet/image_source.h"

namespace muster::data {

// What is done to a stored image until it is a model's input, with tf_cnn_benchmarks' rules.
//
// Training: a part is cut out at random (DrawCrop), mirrored half of the time, resized to the model's size without
// keeping its shape; with "distortions" brightness, saturation, hue and contrast change at random, in one of two
// orders. Evaluation: resized so that both sides are at least 1.145 times the model's size, then the middle is cut out.
// Nothing else is random.
struct PreprocessOptions {
  int size = 224;  // height and width of the result
  bool train = false;
  bool distortions = false;
  bool distort_color_in_yiq = true;  // hue and saturation as one linear change, else in HSV
  bool fuse_decode_and_crop = true;  // decode only the part that is cut out
  std::optional<ResizeMethod> resize_method =
      ResizeMethod::kBilinear;   // none: the four in turn, by the place in the batch
  int64_t batch_size = 4;        // an image's place in the batch is its number modulo this
  bool subtract_means = false;   // values are 0 to 255 less each channel's mean, instead of -1 to 1
  bool ignore_boxes = false;     // any part of the image may be cut out
  bool official_models = false;  // evaluation as in TensorFlow's model garden: shorter side 256, then the middle
  uint64_t seed = 0;
};

// Makes inputs of images. Immutable; any thread may call it.
class Preprocessor {
 public:
  explicit Preprocessor(const PreprocessOptions& options);

  // Writes size x size x 3 floats. "index" is the image's number, "epoch" the pass over the data: what is random
  // depends on them and the seed alone. Throws DataLoss saying what is wrong with the image's bytes.
  void operator()(const EncodedImage& image, int64_t index, uint64_t epoch, std::span<float> out) const;

  const PreprocessOptions& options() const { return options_; }

 private:
  void Train(const EncodedImage& image, int64_t index, uint64_t epoch, std::span<float> out) const;
  void Evaluate(const EncodedImage& image, int64_t index, std::span<float> out) const;
  ResizeMethod MethodOf(int64_t index) const;
  void Scale(std::span<float> out) const;

  PreprocessOptions options_;
  Philox random_;
};

// The evaluation rule on a decoded image, values 0 to 255.
void EvaluationCrop(const RgbImage& image, ResizeMethod method, const ImageSize& to, std::span<float> out);

// Random changes of colour on values from 0 to 255; "order" picks one of the two.
class RandomNumbers;
void DistortColour(std::span<float> rgb, bool in_yiq, int64_t order, RandomNumbers* random);

}  // namespace muster::data
