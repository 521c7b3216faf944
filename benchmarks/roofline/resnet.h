#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::roofline {

// One convolution of a network and how often its shape occurs. Images are square; a kernel of k is padded by (k - 1) /
// 2 on each side.
struct Convolution {
  int64_t in_channels = 0;
  int64_t in_size = 0;  // height and width of its input
  int64_t out_channels = 0;
  int64_t kernel = 0;
  int64_t stride = 1;
  int count = 1;

  int64_t out_size() const { return (in_size + 2 * padding() - kernel) / stride + 1; }
  int64_t padding() const { return (kernel - 1) / 2; }
  int64_t out_elements() const { return out_channels * out_size() * out_size(); }  // per image
  std::string name() const;                                                        // "3x3/2 128@56 -> 128@28"
  auto operator<=>(const Convolution&) const = default;
};

// What a training step of one network consists of, per image unless said otherwise.
struct Network {
  std::string name;
  std::vector<Convolution> convolutions;  // each shape once
  int64_t normalized_elements = 0;        // outputs of all batch normalisations (each follows one convolution)
  int64_t added_elements = 0;             // those that a residual is added to
  int64_t pool_in_elements = 0;           // the one max pooling, 3x3 with stride 2
  int64_t pool_out_elements = 0;
  int64_t features = 0;  // of the dense layer
  int64_t classes = 0;
  int64_t parameters = 0;
};

// ResNet-50 as tf_cnn_benchmarks builds it, for images of 224 x 224 and 1001 classes. Version 1 (--model=resnet50) has
// the stride of a stage in the first 1x1 convolution, version 1.5 (--model=resnet50_v1.5) in the 3x3 one.
Network ResNet50(bool v1_5);

}  // namespace muster::roofline
