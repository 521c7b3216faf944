#include "benchmarks/roofline/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace muster::roofline {
namespace {

const PassTime& TimeOf(const PassTimes& times, Convolution convolution, Pass pass) {
  convolution.count = 1;
  return times.at({convolution, pass});
}

double SumOf(const Network& network, const PassTimes& times, Pass pass) {
  double seconds = 0;
  for (const Convolution& c : network.convolutions) {
    const bool first = c.in_channels == 3;  // nobody needs the gradient of the images
    if (pass == Pass::kBackwardData && first) continue;
    seconds += c.count * TimeOf(times, c, pass).seconds;
  }
  return seconds;
}

}  // namespace

double NormalizationBytes(const Network& network, Precision precision) {
  const double n = static_cast<double>(network.normalized_elements), a = static_cast<double>(network.added_elements);
  return static_cast<double>(BytesOf(precision)) * ((3 * n + a) + (5 * n + a) + 3 * a);
}

double PoolingBytes(const Network& network, Precision precision) {
  const double in = static_cast<double>(network.pool_in_elements), out = static_cast<double>(network.pool_out_elements);
  return 2 * (static_cast<double>(BytesOf(precision)) * (in + out) + out);
}

Limit ComputeLimit(const Network& network, Precision precision, const PassTimes& times, double dense, double bandwidth,
                   int64_t batch) {
  const double images = static_cast<double>(batch);
  Limit limit;
  limit.forward = SumOf(network, times, Pass::kForward) / images;
  limit.backward_data = SumOf(network, times, Pass::kBackwardData) / images;
  limit.backward_weights = SumOf(network, times, Pass::kBackwardWeights) / images;
  limit.dense = dense / images;
  limit.normalization = NormalizationBytes(network, precision) / bandwidth;
  limit.pooling = PoolingBytes(network, precision) / bandwidth;
  const double update_bytes = 3 * sizeof(float) + (precision == Precision::kFloat32 ? 0 : 2);  // w, g in; w out
  limit.update = update_bytes * static_cast<double>(network.parameters) / bandwidth / images;
  return limit;
}

std::string LimitTable(const Network& network, Precision precision, const Limit& limit, int64_t batch) {
  std::string text =
      fmt::format("{}, batch {}, {}          ms per image\n", network.name, batch, PrecisionName(precision));
  const auto row = [&](const char* name, double seconds) {
    text += fmt::format("  {:<36}{:8.2f}\n", name, 1e3 * seconds);
  };
  row("convolutions, forward", limit.forward);
  row("convolutions, backward data", limit.backward_data);
  row("convolutions, backward weights", limit.backward_weights);
  row("batch norm + relu + add, bytes", limit.normalization);
  row("pooling, bytes", limit.pooling);
  row("dense layer", limit.dense);
  row("update, bytes", limit.update);
  row("sum", limit.total());
  text += fmt::format("limit of {}, batch {}, {}: {:.2f} images/sec\n", network.name, batch, PrecisionName(precision),
                      1 / limit.total());
  return text;
}

std::string ConvolutionTable(const Network& network, const PassTimes& times, int64_t batch) {
  struct Row {
    double seconds;
    std::string text;
  };
  std::vector<Row> rows;
  for (const Convolution& c : network.convolutions) {
    const double flops = 2.0 * static_cast<double>(c.out_elements() * c.in_channels * c.kernel * c.kernel * batch);
    for (const Pass pass : {Pass::kForward, Pass::kBackwardData, Pass::kBackwardWeights}) {
      if (pass == Pass::kBackwardData && c.in_channels == 3) continue;
      const PassTime& time = TimeOf(times, c, pass);
      const double seconds = c.count * time.seconds / static_cast<double>(batch);
      rows.push_back({seconds, fmt::format("  {:<28} x{} {:<16} {:7.3f} ms/image {:7.0f} GFLOP/s  {:<4} {}\n", c.name(),
                                           c.count, PassName(pass), 1e3 * seconds, flops / time.seconds / 1e9,
                                           time.layout, time.implementation)});
    }
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.seconds > b.seconds; });
  std::string text;
  for (const Row& row : rows) text += row.text;
  return text;
}

nlohmann::json LimitJson(const Network& network, Precision precision, const Limit& limit, int64_t batch) {
  return {{"model", network.name},
          {"dtype", PrecisionName(precision)},
          {"batch_size", batch},
          {"images_per_sec", 1 / limit.total()},
          {"seconds_per_image",
           {{"forward", limit.forward},
            {"backward_data", limit.backward_data},
            {"backward_weights", limit.backward_weights},
            {"normalization", limit.normalization},
            {"pooling", limit.pooling},
            {"dense", limit.dense},
            {"update", limit.update}}}};
}

}  // namespace muster::roofline
