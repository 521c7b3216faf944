#include "data/format/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace muster::data {
namespace {

constexpr double kLargest = std::numeric_limits<double>::max();

std::vector<double> MakeLimits() {
  std::vector<double> positive;
  for (double limit = 1e-12; limit < 1e20; limit *= 1.1) positive.push_back(limit);
  positive.push_back(kLargest);
  std::vector<double> limits;
  for (auto limit = positive.rbegin(); limit != positive.rend(); ++limit) limits.push_back(-*limit);
  limits.push_back(0);
  limits.insert(limits.end(), positive.begin(), positive.end());
  return limits;
}

const std::vector<double>& Limits() {
  static const std::vector<double> limits = MakeLimits();
  return limits;
}

}  // namespace

Histogram::Histogram() : min_(kLargest), max_(-kLargest), counts_(Limits().size()) {}

void Histogram::Add(double value) {
  if (std::isnan(value)) {
    ++num_nan_;
    return;
  }
  const std::vector<double>& limits = Limits();
  const auto above = std::upper_bound(limits.begin(), limits.end(), value);
  // infinity: the last
  const auto bucket = std::min<size_t>(static_cast<size_t>(above - limits.begin()), limits.size() - 1);
  ++counts_[bucket];
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  ++num_;
  sum_ += value;
  sum_squares_ += value * value;
}

void Histogram::Add(std::span<const float> values) {
  for (const float value : values) Add(static_cast<double>(value));
}

HistogramValue Histogram::Value() const {
  HistogramValue value{min_, max_, num_, sum_, sum_squares_, {}, {}};
  for (size_t i = 0; i < counts_.size();) {
    const bool is_empty = counts_[i] == 0;
    while (is_empty && i + 1 < counts_.size() && counts_[i + 1] == 0) ++i;
    value.limits.push_back(Limits()[i]);
    value.counts.push_back(counts_[i]);
    ++i;
  }
  return value;
}

}  // namespace muster::data
