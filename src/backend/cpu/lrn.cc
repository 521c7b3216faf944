#include "backend/cpu/kernels.h"
#include "backend/cpu/lrn_simd.h"
#include "backend/cpu/parallel.h"
#include "base/check.h"

namespace muster::cpu {

// LRN(x) -> y; LRNGrad(dy, x, y) -> dx.
PreparedKernel PrepareLrn(const KernelRequest& r, const DeviceCaps& caps) {
  const LRNAttrs& attrs = r.attr<LRNAttrs>();
  MUSTER_CHECK(attrs.data_format == DataFormat::kNHWC);
  const Shape& x = r.in(0);
  const LrnRow row{x[x.rank() - 1], attrs.depth_radius, static_cast<float>(attrs.bias), static_cast<float>(attrs.alpha),
                   static_cast<float>(attrs.beta)};
  const int64_t rows = row.channels == 0 ? 0 : x.num_elements() / row.channels;
  const int64_t scratch_floats = LrnScratchFloats(row);
  const bool is_gradient = r.kind == OpKind::kLRNGrad;
  const int threads = caps.threads;
  auto launch = [=, simd = &GetLrnSimd()](const LaunchArgs& a) {
    // One piece per thread, each with scratch memory of its own.
    ParallelItems(threads, threads, rows * row.channels * 4 <= kGrainBytes, [&](int64_t piece) {
      float* scratch = static_cast<float*>(a.workspace) + piece * scratch_floats;
      for (int64_t i = rows * piece / threads; i < rows * (piece + 1) / threads; ++i) {
        const int64_t at = i * row.channels;
        if (is_gradient)
          simd->backward(row, a.in<float>(0) + at, a.in<float>(1) + at, a.in<float>(2) + at, scratch,
                         a.out<float>(0) + at);
        else simd->forward(row, a.in<float>(0) + at, scratch, a.out<float>(0) + at);
      }
    });
  };
  PreparedKernel prepared{MakeKernel(launch), threads * scratch_floats * static_cast<int64_t>(sizeof(float))};
  // A row's outputs are written after all of its inputs were read but for dy and x of the gradient, read at the same
  // place.
  prepared.in_place.push_back({0, 0});
  return prepared;
}

}  // namespace muster::cpu
