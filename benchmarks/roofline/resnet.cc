#include "benchmarks/roofline/resnet.h"

#include <fmt/format.h>

namespace muster::roofline {
namespace {

constexpr int kExpansion = 4;  // a block's output has four times the channels of its 3x3 convolution

// Adds one convolution with its batch normalisation, as often as its shape occurs.
class Walk {
 public:
  explicit Walk(Network& network) : network_(network) {}

  int64_t Convolve(int64_t in_channels, int64_t size, int64_t out_channels, int64_t kernel, int64_t stride) {
    const Convolution convolution{in_channels, size, out_channels, kernel, stride};
    network_.normalized_elements += convolution.out_elements();
    network_.parameters += in_channels * out_channels * kernel * kernel + 2 * out_channels;
    for (Convolution& known : network_.convolutions) {
      Convolution same = convolution;
      same.count = known.count;
      if (same != known) continue;
      ++known.count;
      return convolution.out_size();
    }
    network_.convolutions.push_back(convolution);
    return convolution.out_size();
  }

  // One bottleneck block; returns the size of its output.
  int64_t Block(int64_t in_channels, int64_t size, int64_t channels, int64_t stride, bool v1_5) {
    const int64_t out_channels = kExpansion * channels;
    if (in_channels != out_channels) Convolve(in_channels, size, out_channels, 1, stride);
    int64_t at = Convolve(in_channels, size, channels, 1, v1_5 ? 1 : stride);
    at = Convolve(channels, at, channels, 3, v1_5 ? stride : 1);
    at = Convolve(channels, at, out_channels, 1, 1);
    network_.added_elements += out_channels * at * at;
    return at;
  }

 private:
  Network& network_;
};

}  // namespace

std::string Convolution::name() const {
  return fmt::format("{0}x{0}/{1} {2}@{3} -> {4}@{5}", kernel, stride, in_channels, in_size, out_channels, out_size());
}

Network ResNet50(bool v1_5) {
  constexpr int kBlocks[] = {3, 4, 6, 3};
  Network network;
  network.name = v1_5 ? "resnet50_v1.5" : "resnet50";
  Walk walk(network);
  int64_t size = walk.Convolve(3, 224, 64, 7, 2);
  network.pool_in_elements = 64 * size * size;
  size /= 2;
  network.pool_out_elements = 64 * size * size;
  int64_t in_channels = 64;
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t channels = int64_t{64} << stage;
    for (int block = 0; block < kBlocks[stage]; ++block) {
      size = walk.Block(in_channels, size, channels, stage > 0 && block == 0 ? 2 : 1, v1_5);
      in_channels = kExpansion * channels;
    }
  }
  network.features = in_channels;
  network.classes = 1001;
  network.parameters += network.features * network.classes + network.classes;
  return network;
}

}  // namespace muster::roofline
