#include "train/summary_writer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "data/format/png.h"
#include "data/format/run_metadata.h"
#include "muster/graph_export.h"

namespace muster::train {
namespace {

// Every number of a float32 tensor, or of one that holds half the bits.
template <typename F>
void ForEach(const Tensor& tensor, F use) {
  switch (tensor.dtype()) {
    case DType::kFloat32:
      for (const float x : tensor.data<float>()) use(static_cast<double>(x));
      break;
    case DType::kFloat64:
      for (const double x : tensor.data<double>()) use(x);
      break;
    case DType::kFloat16:
      for (const Float16 x : tensor.data<Float16>()) use(static_cast<double>(ToFloat(x)));
      break;
    case DType::kBFloat16:
      for (const BFloat16 x : tensor.data<BFloat16>()) use(static_cast<double>(ToFloat(x)));
      break;
    default: break;
  }
}

data::SummaryImage Picture(std::span<const float> pixels, int height, int width, int channels) {
  const auto [low, high] = std::ranges::minmax(pixels);
  const float scale = high > low ? 255 / (high - low) : 0;
  std::vector<uint8_t> bytes;
  for (const float p : pixels) bytes.push_back(static_cast<uint8_t>(std::lround((p - low) * scale)));
  return {height, width, channels, data::EncodePng(bytes, height, width, channels)};
}

}  // namespace

SummaryWriter::SummaryWriter(const std::string& folder, const Graph& graph) : events_(folder) {
  events_.AddGraph(GraphToGraphDef(graph));
  Flush();
}

void SummaryWriter::Scalars(int64_t step, const std::vector<std::pair<std::string, double>>& values) {
  std::vector<data::SummaryValue> summary;
  for (const auto& [tag, value] : values) summary.push_back({tag, static_cast<float>(value)});
  events_.AddSummary(std::move(summary), step);
}

void SummaryWriter::LogGradients(int64_t step, std::span<const Tensor> gradients) {
  data::Histogram histogram;
  for (const Tensor& gradient : gradients)
    ForEach(gradient, [&](double x) {
      if (x != 0) histogram.Add(std::log(std::abs(x)));
    });
  events_.AddHistogram("log_gradients_summary/log_gradients", histogram.Value(), step);
}

void SummaryWriter::Histogram(int64_t step, const std::string& tag, const Tensor& values) {
  data::Histogram histogram;
  ForEach(values, [&](double x) { histogram.Add(x); });
  events_.AddHistogram(tag, histogram.Value(), step);
}

void SummaryWriter::Images(int64_t step, const std::string& tag, const Tensor& images, int64_t count) {
  const Shape& shape = images.shape();
  const int64_t pixels = shape[1] * shape[2] * shape[3];
  if (pixels == 0 || (shape[3] != 1 && shape[3] != 3 && shape[3] != 4)) return;
  for (int64_t i = 0; i < std::min(count, shape[0]); ++i)
    events_.AddImage(fmt::format("{}/image/{}", tag, i),
                     Picture(images.data<float>().subspan(static_cast<size_t>(i * pixels), static_cast<size_t>(pixels)),
                             static_cast<int>(shape[1]), static_cast<int>(shape[2]), static_cast<int>(shape[3])),
                     step);
}

void SummaryWriter::RunMetadata(int64_t step, const Timeline& timeline) {
  const auto micros = [](double seconds) { return std::llround(seconds * 1e6); };
  const int64_t now =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  std::vector<data::NodeStats> nodes;
  for (const TimelineSpan& span : timeline.spans)
    nodes.push_back({.device = span.stream == "compute" ? span.device : span.device + "/stream:" + span.stream,
                     .name = span.name,
                     .label = fmt::format("{} = {}({})", span.name, span.op, span.output),
                     .start_micros = now + micros(span.start),
                     .micros = std::max<int64_t>(micros(span.seconds), 1),
                     .output_bytes = span.output_bytes,
                     .workspace_bytes = span.workspace_bytes});
  events_.AddRunMetadata(fmt::format("step{}", step), data::RunMetadataBytes(nodes), step);
}

}  // namespace muster::train
