#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/format/event_file.h"
#include "muster/graph.h"
#include "muster/tensor.h"
#include "muster/timeline.h"

namespace muster::train {

// What a run writes for TensorBoard, under the tags of tf_cnn_benchmarks. For one thread; errors name the file.
class SummaryWriter {
 public:
  // Makes an event file in the folder, which must exist, and writes the graph, coloured by device.
  SummaryWriter(const std::string& folder, const Graph& graph);

  // Several curves at one step.
  void Scalars(int64_t step, const std::vector<std::pair<std::string, double>>& values);
  // A histogram of the logarithms of the magnitudes of all numbers in these that are not zero.
  void LogGradients(int64_t step, std::span<const Tensor> gradients);
  void Histogram(int64_t step, const std::string& tag, const Tensor& values);
  // Pictures of the first images of a batch [batch, height, width, channels]: float32, scaled so that the smallest
  // number is black and the largest white.
  void Images(int64_t step, const std::string& tag, const Tensor& images, int64_t count);
  // Time and memory of each operation of a step.
  void RunMetadata(int64_t step, const Timeline& timeline);

  // TensorBoard sees everything so far.
  void Flush() { events_.Flush(); }
  void Close() { events_.Close(); }

 private:
  data::EventFileWriter events_;
};

}  // namespace muster::train
