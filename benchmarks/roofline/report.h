#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <utility>

#include "benchmarks/roofline/convolutions.h"

namespace muster::roofline {

using PassTimes = std::map<std::pair<Convolution, Pass>, PassTime>;  // keyed with count 1

// The least time of a training step per image, and its parts, in seconds.
struct Limit {
  double forward = 0;
  double backward_data = 0;
  double backward_weights = 0;
  double dense = 0;
  double normalization = 0;  // batch norm + ReLU + residual add at full bandwidth
  double pooling = 0;
  double update = 0;  // SGD over all parameters, once a step; in bfloat16 also the weights as the passes read them

  double convolutions() const { return forward + backward_data + backward_weights; }
  double total() const { return convolutions() + dense + normalization + pooling + update; }
};

// Bytes that the steps around the convolutions must move per image if each is one pass over memory:
//   batch norm + ReLU (+ add) forward: input for the statistics, input again, output (+ residual in): 3 (+ 1) x
//   elements; backward: input and gradient for the sums, both again, gradient out (+ gradient of the residual out): 5
//   (+ 1); at each addition the gradients of both branches are summed: two in, one out: 3.
double NormalizationBytes(const Network& network, Precision precision);

// Max pooling: input, output and one byte for each window's winner; backwards the same.
double PoolingBytes(const Network& network, Precision precision);

// "dense" is in seconds for the batch, "bandwidth" in bytes per second.
Limit ComputeLimit(const Network& network, Precision precision, const PassTimes& times, double dense, double bandwidth,
                   int64_t batch);

std::string LimitTable(const Network& network, Precision precision, const Limit& limit, int64_t batch);

// One line per convolution shape and pass, slowest first.
std::string ConvolutionTable(const Network& network, const PassTimes& times, int64_t batch);

nlohmann::json LimitJson(const Network& network, Precision precision, const Limit& limit, int64_t batch);

}  // namespace muster::roofline
