// Softmax, LogSoftmax and the softmax cross entropies, along the last axis:
//   log softmax[j] = x[j] - max - log(sum of exp(x - max)); softmax[j] = exp(log softmax[j])
//   loss = -sum of p * log softmax; backprop = softmax - p, where p is the label's distribution
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "backend/reference/reference_rows.h"
#include "muster/error.h"

namespace muster {
namespace {

struct Rows {
  int64_t count = 0, classes = 0;
};

Rows RowsOf(const Shape& shape) {
  const int64_t classes = shape[shape.rank() - 1];
  return {classes == 0 ? 0 : shape.num_elements() / classes, classes};
}

// One row's log softmax, safe for large values.
template <typename T>
class LogSoftmaxRow {
 public:
  LogSoftmaxRow(const T* x, int64_t classes) : x_(x), max_(*std::max_element(x, x + classes)) {
    double sum = 0;
    for (int64_t j = 0; j < classes; ++j) sum += std::exp(x[j] - max_);
    log_sum_ = std::log(sum);
  }
  double at(int64_t j) const { return x_[j] - max_ - log_sum_; }

 private:
  const T* x_;
  double max_, log_sum_;
};

template <typename T>
PreparedKernel PrepareSoftmax(const KernelRequest& request, const DeviceCaps&) {
  const Rows rows = RowsOf(request.in(0));
  const bool is_log = request.kind == OpKind::kLogSoftmax;
  auto launch = [=](const LaunchArgs& args) {
    for (int64_t i = 0; i < rows.count; ++i) {
      const T* x = args.in<T>(0) + i * rows.classes;
      T* y = args.out<T>(0) + i * rows.classes;
      const LogSoftmaxRow<T> log_softmax(x, rows.classes);
      for (int64_t j = 0; j < rows.classes; ++j)
        y[j] = static_cast<T>(is_log ? log_softmax.at(j) : std::exp(log_softmax.at(j)));
    }
  };
  return {MakeKernel(launch), 0, {{0, 0}}};
}

template <typename T, typename Label>
void SparseCrossEntropy(Rows rows, const T* logits, const Label* labels, T* loss, T* backprop) {
  for (int64_t i = 0; i < rows.count; ++i) {
    const int64_t label = labels[i];
    if (label < 0 || label >= rows.classes)
      throw InvalidArgument(fmt::format("label {} of row {} is outside [0, {})", label, i, rows.classes));
    const LogSoftmaxRow<T> log_softmax(logits + i * rows.classes, rows.classes);
    if (loss != nullptr) loss[i] = static_cast<T>(-log_softmax.at(label));
    if (backprop == nullptr) continue;
    for (int64_t j = 0; j < rows.classes; ++j)
      backprop[i * rows.classes + j] = static_cast<T>(std::exp(log_softmax.at(j)) - (j == label ? 1 : 0));
  }
}

template <typename T>
PreparedKernel PrepareSparse(const KernelRequest& request, const DeviceCaps&) {
  const Rows rows = RowsOf(request.in(0));
  const bool is_wide = request.inputs[1].dtype == DType::kInt64;
  auto launch = [=](const LaunchArgs& args) {
    if (is_wide) SparseCrossEntropy(rows, args.in<T>(0), args.in<int64_t>(1), args.out<T>(0), args.out<T>(1));
    else SparseCrossEntropy(rows, args.in<T>(0), args.in<int32_t>(1), args.out<T>(0), args.out<T>(1));
  };
  return {MakeKernel(launch), 0, {}};
}

template <typename T>
PreparedKernel PrepareDense(const KernelRequest& request, const DeviceCaps&) {
  const Rows rows = RowsOf(request.in(0));
  auto launch = [=](const LaunchArgs& args) {
    T *loss = args.out<T>(0), *backprop = args.out<T>(1);
    for (int64_t i = 0; i < rows.count; ++i) {
      const T* p = args.in<T>(1) + i * rows.classes;
      const LogSoftmaxRow<T> log_softmax(args.in<T>(0) + i * rows.classes, rows.classes);
      double total = 0;
      for (int64_t j = 0; j < rows.classes; ++j)
        if (p[j] != 0) total -= p[j] * log_softmax.at(j);
      if (loss != nullptr) loss[i] = static_cast<T>(total);
      if (backprop == nullptr) continue;
      for (int64_t j = 0; j < rows.classes; ++j)
        backprop[i * rows.classes + j] = static_cast<T>(std::exp(log_softmax.at(j)) - p[j]);
    }
  };
  return {MakeKernel(launch), 0, {}};
}

}  // namespace

std::vector<KernelRow> ReferenceLossRows() {
  return {
      {OpKind::kSoftmax, DType::kFloat32, PrepareSoftmax<float>},
      {OpKind::kSoftmax, DType::kFloat64, PrepareSoftmax<double>},
      {OpKind::kLogSoftmax, DType::kFloat32, PrepareSoftmax<float>},
      {OpKind::kLogSoftmax, DType::kFloat64, PrepareSoftmax<double>},
      {OpKind::kSparseSoftmaxCrossEntropyWithLogits, DType::kFloat32, PrepareSparse<float>},
      {OpKind::kSparseSoftmaxCrossEntropyWithLogits, DType::kFloat64, PrepareSparse<double>},
      {OpKind::kSoftmaxCrossEntropyWithLogits, DType::kFloat32, PrepareDense<float>},
      {OpKind::kSoftmaxCrossEntropyWithLogits, DType::kFloat64, PrepareDense<double>},
  };
}

}  // namespace muster
