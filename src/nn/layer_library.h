#pragma once

#include <string_view>

#include "muster/layers.h"

namespace muster {

// What a library calls its layers and their variables.
struct LayerNames {
  std::string_view conv;              // scope of a convolution
  std::string_view kernel_scope;      // inside it, around the kernel; empty: none
  std::string_view kernel;            // a convolution's weights
  std::string_view separable;         // scope of a depthwise or separable convolution
  std::string_view depthwise_kernel;  // its weights
  std::string_view pointwise_kernel;
  std::string_view biases;            // of any layer
  std::string_view dense;             // scope of a dense layer
  std::string_view dense_kernel;      // its weights
  std::string_view batch_norm;        // scope of a batch norm, counted
  std::string_view inner_batch_norm;  // of the batch norm of a convolution; empty: counted too
};

constexpr LayerNames kLayerNames[] = {
    {"conv", "conv2d", "kernel", "separable", "depthwise_kernel", "pointwise_kernel", "biases", "affine", "weights",
     "batchnorm", ""},
    {"Conv", "", "weights", "SeparableConv2d", "depthwise_weights", "pointwise_weights", "biases", "fully_connected",
     "weights", "BatchNorm", "BatchNorm"},
    {"conv2d", "", "kernel", "separable_conv2d", "depthwise_kernel", "pointwise_kernel", "bias", "dense", "kernel",
     "batch_normalization", ""},
};

constexpr const LayerNames& NamesOf(LayerLibrary library) { return kLayerNames[static_cast<size_t>(library)]; }

// What a convolution's kernel starts from: what the options say, otherwise what the library takes.
inline Initializer KernelInitializer(LayerLibrary library, const ConvOptions& options) {
  if (options.kernel_initializer) return options.kernel_initializer;
  if (options.stddev) return initializers::TruncatedNormal(0, *options.stddev);
  return library == LayerLibrary::kConvNetBuilder ? initializers::VarianceScaling() : initializers::GlorotUniform();
}

}  // namespace muster
