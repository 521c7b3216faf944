#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/roofline/resnet.h"

namespace muster::roofline {

// The three passes of training through a convolution.
enum class Pass { kForward, kBackwardData, kBackwardWeights };
const char* PassName(Pass pass);

// Of activations, their gradients and the weights as the passes read them. Gradients of weights are always float32.
enum class Precision { kFloat32, kBFloat16 };
const char* PrecisionName(Precision precision);  // TensorFlow's name
int64_t BytesOf(Precision precision);            // of one value

// The fastest that oneDNN was seen to do one pass, once.
struct PassTime {
  double seconds = 0;
  std::string layout;          // "nhwc", or "any": whatever oneDNN likes best
  std::string implementation;  // oneDNN's name for it
};

// Times one pass for a batch: with NHWC activations and with layouts that oneDNN chooses for itself (the cost of
// changing from one to another is not counted: this is a limit). The median of "repetitions" runs after one that is not
// counted, the better of both layouts. Weights are in the layout that oneDNN asks for.
PassTime MeasurePass(const Convolution& convolution, Pass pass, Precision precision, int64_t batch, int repetitions);

// Seconds that the dense layer's three matrix products take for a batch: output, gradient of input, gradient of
// weights.
double MeasureDense(int64_t features, int64_t classes, Precision precision, int64_t batch, int repetitions);

// "3.2.0", and the instruction set that it uses here.
std::string OneDnnVersion();

}  // namespace muster::roofline
