#pragma once

#include <cstdint>

// The inner loops of batch normalisation, over tiles of NHWC activations seen as a matrix [rows, channels].
namespace muster::cpu {

// Tables of per-channel values are padded to a multiple of this many floats, so that vectors may read past the last channel.
inline constexpr int64_t kChannelPadding = 16;

// Rows that single-precision sums may run over before they are flushed into double ones.
inline constexpr int64_t kRowsPerSum = 256;

// rows x channels floats; rows lie "stride" floats apart.
struct BatchNormTile {
  int64_t rows, channels, stride;
};

struct BatchNormForwardArgs {
  const float* x;
  const float* side;    // nullptr: none; added before the ReLU
  const float *mean, *factor, *offset;  // per channel: y = (x - mean) * factor + offset
  float* y;
  bool relu;
  bool stream;          // write past the caches; y and stride are multiples of 64 bytes then
};

enum class ReluMask { kNone, kFromOutput, kRecomputed };

struct BatchNormBackwardArgs {
  const float* dy;
  const float* dy2;     // added to dy; nullptr: none
  const float* x;
  const float* y;       // for ReluMask::kFromOutput
  ReluMask mask;
  const float *mean, *factor, *offset;  // as in the forward pass
  // dx = g * factor - ((x - mean) * slope + bias), with g the masked dy
  const float *slope, *bias;
  float* masked_dy;     // the gradient of the side input, which is g; nullptr: not wanted
  float* dx;
  bool stream;
};

struct BatchNormSimd {
  // sum[c] += x - shift, square[c] += (x - shift)^2; at most kRowsPerSum rows.
  void (*moments)(const BatchNormTile&, const float* x, const float* shift, float* sum, float* square);
  void (*normalise)(const BatchNormTile&, const BatchNormForwardArgs&);
  // sum[c] += g, product[c] += g * (x - mean); writes masked_dy if it is given. At most kRowsPerSum rows.
  void (*gradient_sums)(const BatchNormTile&, const BatchNormBackwardArgs&, float* sum, float* product);
  // Writes dx. With masked_dy given, dy is expected to be masked already, and dy2 to be in it.
  void (*gradient_input)(const BatchNormTile&, const BatchNormBackwardArgs&);
};

// For this CPU.
const BatchNormSimd& GetBatchNormSimd();

}  // namespace muster::cpu
