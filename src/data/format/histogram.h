#pragma once

#include <span>
#include <vector>

namespace muster::data {

// What TensorBoard draws of many values: how many lie in each bucket. Bucket i holds the values from limits[i - 1] (the
// first: from -infinity) to below limits[i].
struct HistogramValue {
  double min = 0, max = 0, num = 0, sum = 0, sum_squares = 0;
  std::vector<double> limits, counts;
};

// TensorFlow's buckets: 0, and both ways 1e-12 times 1.1^n up to 1e20, and the largest double. Runs of empty buckets
// become one.
class Histogram {
 public:
  Histogram();
  // NaN, which no bucket holds, is left out and counted.
  void Add(double value);
  void Add(std::span<const float> values);
  HistogramValue Value() const;
  long num_nan() const { return num_nan_; }

 private:
  double min_, max_, num_ = 0, sum_ = 0, sum_squares_ = 0;
  long num_nan_ = 0;
  std::vector<double> counts_;
};

}  // namespace muster::data
