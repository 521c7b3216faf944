// Softmax, LogSoftmax and the softmax cross entropies, along the last axis; rows are shared out among threads.
#include <fmt/format.h>

#include "backend/cpu/kernels.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/softmax_simd.h"
#include "muster/error.h"

namespace muster::cpu {
namespace {

struct Rows {
  int64_t count = 0, classes = 0;

  explicit Rows(const Shape& shape) : classes(shape[shape.rank() - 1]) {
    count = classes == 0 ? 0 : shape.num_elements() / classes;
  }
  // An exponential costs about as much as moving 32 bytes.
  int64_t grain() const { return GrainFor(classes * 32); }
};

// Throws before any thread starts: an exception must not leave a parallel region.
template <typename Label>
void CheckLabels(const Rows& rows, const Label* labels) {
  for (int64_t i = 0; i < rows.count; ++i)
    if (labels[i] < 0 || labels[i] >= rows.classes)
      throw InvalidArgument(fmt::format("label {} of row {} is outside [0, {})", labels[i], i, rows.classes));
}

template <typename Label>
void SparseCrossEntropy(const SoftmaxSimd& simd, const Rows& rows, int threads, const LaunchArgs& args) {
  const Label* labels = args.in<Label>(1);
  CheckLabels(rows, labels);
  ParallelFor(threads, rows.count, rows.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* x = args.in<float>(0) + i * rows.classes;
      const float logit = x[labels[i]];  // before "backprop", which may be the same place, is written
      float* backprop = args.outputs[1] == nullptr ? nullptr : args.out<float>(1) + i * rows.classes;
      const SoftmaxRow row = simd.prepare(x, rows.classes, backprop);
      if (args.outputs[0] != nullptr) args.out<float>(0)[i] = row.log_sum - (logit - row.max);
      if (backprop == nullptr) continue;
      simd.scale(backprop, row.inverse_sum, rows.classes, backprop);
      backprop[labels[i]] -= 1;
    }
  });
}

}  // namespace

PreparedKernel PrepareSoftmax(const KernelRequest& r, const DeviceCaps& caps) {
  const Rows rows(r.in(0));
  const bool is_log = r.kind == OpKind::kLogSoftmax;
  return {MakeKernel([=, threads = caps.threads, simd = &GetSoftmaxSimd()](const LaunchArgs& args) {
            ParallelFor(threads, rows.count, rows.grain(), [&](int64_t begin, int64_t end) {
              for (int64_t i = begin; i < end; ++i) {
                const float* x = args.in<float>(0) + i * rows.classes;
                float* y = args.out<float>(0) + i * rows.classes;
                const SoftmaxRow row = simd->prepare(x, rows.classes, is_log ? nullptr : y);
                if (is_log) simd->shift(x, row.max + row.log_sum, rows.classes, y);
                else simd->scale(y, row.inverse_sum, rows.classes, y);
              }
            });
          }),
          0,
          {{0, 0}}};
}

PreparedKernel PrepareSparseCrossEntropy(const KernelRequest& r, const DeviceCaps& caps) {
  const Rows rows(r.in(0));
  const bool is_wide = r.inputs[1].dtype == DType::kInt64;
  return {MakeKernel([=, threads = caps.threads, simd = &GetSoftmaxSimd()](const LaunchArgs& args) {
            is_wide ? SparseCrossEntropy<int64_t>(*simd, rows, threads, args)
                    : SparseCrossEntropy<int32_t>(*simd, rows, threads, args);
          }),
          0,
          {{1, 0}}};
}

PreparedKernel PrepareDenseCrossEntropy(const KernelRequest& r, const DeviceCaps& caps) {
  const Rows rows(r.in(0));
  return {MakeKernel([=, threads = caps.threads, simd = &GetSoftmaxSimd()](const LaunchArgs& args) {
    ParallelFor(threads, rows.count, rows.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float *x = args.in<float>(0) + i * rows.classes, *p = args.in<float>(1) + i * rows.classes;
        float* backprop = args.outputs[1] == nullptr ? nullptr : args.out<float>(1) + i * rows.classes;
        const SoftmaxRow row = simd->prepare(x, rows.classes, backprop);
        if (args.outputs[0] != nullptr)
          args.out<float>(0)[i] = -simd->weighted(p, x, row.max + row.log_sum, rows.classes);
        if (backprop != nullptr) simd->difference(backprop, row.inverse_sum, p, rows.classes, backprop);
      }
    });
  })};
}

}  // namespace muster::cpu
