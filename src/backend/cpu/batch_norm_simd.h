#pragma once

#include <cstdint>

// The inner loops of batch normalisation, over tiles of NHWC activations seen as a matrix [rows, channels]. T, of the
// activations and their gradients, is float or BFloat16; tables and arithmetic are single precision.
namespace muster::cpu {

// Tables of per-channel values are padded to a multiple of this many floats, so that vectors may read past the last
// channel.
inline constexpr int64_t kChannelPadding = 32;

// Rows that single-precision sums may run over before they are flushed into double ones.
inline constexpr int64_t kRowsPerSum = 256;

// rows x channels values; rows lie "stride" values apart.
struct BatchNormTile {
  int64_t rows, channels, stride;
};

template <typename T>
struct BatchNormForwardArgs {
  const T* x;
  const T* side;                        // nullptr: none; added before the ReLU
  const float *mean, *factor, *offset;  // per channel: y = (x - mean) * factor + offset
  T* y;
  bool relu;
  bool stream;  // write past the caches; y and stride are multiples of 64 bytes then
};

enum class ReluMask { kNone, kFromOutput, kRecomputed };

template <typename T>
struct BatchNormBackwardArgs {
  const T* dy;
  const T* dy2;  // added to dy; nullptr: none
  const T* x;
  const T* y;  // for ReluMask::kFromOutput
  ReluMask mask;
  const float *mean, *factor, *offset;  // as in the forward pass
  // dx = g * factor - ((x - mean) * slope + bias), with g the masked dy
  const float *slope, *bias;
  T* masked_dy;  // the gradient of the side input, which is g; nullptr: not wanted
  T* dx;
  bool stream;
};

template <typename T>
struct BatchNormSimd {
  // sum[c] += x - shift, square[c] += (x - shift)^2; at most kRowsPerSum rows.
  void (*moments)(const BatchNormTile&, const T* x, const float* shift, float* sum, float* square);
  void (*normalise)(const BatchNormTile&, const BatchNormForwardArgs<T>&);
  // sum[c] += g, product[c] += g * (x - mean); writes masked_dy if it is given. At most kRowsPerSum rows.
  void (*gradient_sums)(const BatchNormTile&, const BatchNormBackwardArgs<T>&, float* sum, float* product);
  // Writes dx. With masked_dy given, dy is expected to be masked already, and dy2 to be in it.
  void (*gradient_input)(const BatchNormTile&, const BatchNormBackwardArgs<T>&);
};

// For this CPU.
template <typename T>
const BatchNormSimd<T>& GetBatchNormSimd();

}  // namespace muster::cpu
