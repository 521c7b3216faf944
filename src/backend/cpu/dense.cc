#include "backend/cpu/dense.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "backend/cpu/dense_simd.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/parallel.h"
#include "base/check.h"
#include "plan/bucket_format.h"

namespace muster::cpu {
namespace {

constexpr int64_t kFloat = sizeof(float);
// Smaller weights stay as they are: measured no faster.
constexpr int64_t kMinWeights = 1 << 16;
// The last panel is filled up with zeros; narrower layers would be mostly that.
constexpr int64_t kMinColumns = 64;

// The rows of a panel, rounded up to whole strips and, where needed, some more: the same rows of panels at distances of
// whole pages would compete for the same places in the caches.
int64_t RowsInPanel(int64_t in) {
  constexpr int64_t kPage = 4096,
                    kApart = 6 * kDensePanel * kFloat;  // the input gradient goes through 6 rows of all panels
  int64_t rows = (in + kDenseStrip - 1) / kDenseStrip * kDenseStrip;
  const auto is_close = [&] {
    const int64_t at = rows * kDensePanel * kFloat % kPage;
    return std::min(at, kPage - at) < kApart;
  };
  while (is_close()) rows += kDenseStrip;
  return rows;
}

class DensePanels final : public OpaqueFormat {
 public:
  DensePanels(int64_t in, int64_t out) : shape_{0, in, out}, key_(fmt::format("panels of {}x{}", in, out)) {}

  const std::string& key() const override { return key_; }
  int64_t byte_size() const override { return shape_.panels() * panel_stride() * kFloat; }
  int64_t panel_stride() const { return RowsInPanel(shape_.in) * kDensePanel; }

  void Pack(const void* plain, void* packed) const override {
    std::memset(packed, 0, static_cast<size_t>(byte_size()));
    ForRows([&](int64_t plain_at, int64_t packed_at, size_t bytes) {
      std::memcpy(static_cast<float*>(packed) + packed_at, static_cast<const float*>(plain) + plain_at, bytes);
    });
  }
  void Unpack(const void* packed, void* plain) const override {
    ForRows([&](int64_t plain_at, int64_t packed_at, size_t bytes) {
      std::memcpy(static_cast<float*>(plain) + plain_at, static_cast<const float*>(packed) + packed_at, bytes);
    });
  }

 private:
  template <typename Copy>
  void ForRows(const Copy& copy) const {
    for (int64_t panel = 0; panel < shape_.panels(); ++panel) {
      const int64_t column = panel * kDensePanel, columns = std::min(kDensePanel, shape_.out - column);
      for (int64_t row = 0; row < shape_.in; ++row)
        copy(row * shape_.out + column, panel * panel_stride() + row * kDensePanel,
             static_cast<size_t>(columns * kFloat));
    }
  }

  const DenseShape shape_;
  const std::string key_;
};

const DensePanels* FormatOf(const Layout& layout) { return dynamic_cast<const DensePanels*>(layout.format()); }

int64_t PanelStride(const Layout& layout) {
  const DensePanels* format = FormatOf(layout);
  MUSTER_CHECK(format != nullptr);
  return format->panel_stride();
}

DensePlaces PlacesOf(const TensorDesc& weights) {
  if (weights.layout.is_plain()) return {weights.shape[1], kDensePanel, true};
  return {kDensePanel, PanelStride(weights.layout), false};
}

// What the passes share.
class DensePass {
 public:
  DensePass(const DenseShape& shape, int threads) : shape_(shape), threads_(threads) {}

  const DenseShape& shape() const { return shape_; }
  const DenseSimd& simd() const { return simd_; }

  void PackX(const float* x, float* packed) const {
    ParallelFor(threads_, shape_.strips(), GrainFor(shape_.batch * kDenseStrip * 2 * kFloat),
                [&](int64_t begin, int64_t end) { simd_.pack_x(shape_, x, begin, end, packed); });
  }
  void PackDy(const float* dy, float* packed) const {
    ParallelFor(threads_, shape_.panels(), GrainFor(shape_.batch * kDensePanel * 2 * kFloat),
                [&](int64_t begin, int64_t end) { simd_.pack_dy(shape_, dy, begin, end, packed); });
  }
  // Calls body with ranges of [0, n).
  template <typename Body>
  void Share(int64_t n, const Body& body) const {
    ParallelFor(threads_, n, 1, body);
  }

 private:
  const DenseShape shape_;
  const int threads_;
  const DenseSimd& simd_ = GetDenseSimd();
};

PreparedKernel PrepareForward(const DensePass& pass, int64_t panel_stride, bool bias, bool relu) {
  return {MakeKernel([=](const LaunchArgs& a) {
            float* packed = static_cast<float*>(a.workspace);
            pass.PackX(a.in<float>(0), packed);
            const DenseForwardArgs args{packed, a.in<float>(1), panel_stride, bias ? a.in<float>(2) : nullptr,
                                        relu,   a.out<float>(0)};
            pass.Share(pass.shape().column_groups(),
                       [&](int64_t begin, int64_t end) { pass.simd().forward(pass.shape(), args, begin, end); });
          }),
          pass.shape().packed_x() * kFloat};
}

PreparedKernel PrepareInputGradient(const DensePass& pass, int64_t panel_stride) {
  return {MakeKernel([=](const LaunchArgs& a) {
            float* packed = static_cast<float*>(a.workspace);
            pass.PackDy(a.in<float>(0), packed);
            const DenseInputArgs args{packed, a.in<float>(1), panel_stride, a.out<float>(0)};
            const int64_t unit = pass.simd().input_columns, in = pass.shape().in;
            pass.Share((in + unit - 1) / unit, [&](int64_t begin, int64_t end) {
              pass.simd().input_gradient(pass.shape(), args, begin * unit, std::min(end * unit, in));
            });
          }),
          pass.shape().packed_dy() * kFloat};
}

// The rows behind the last strip: a gradient's padding is zeros, as that of any value in an opaque form.
void ClearPadding(const DenseShape& s, const DensePlaces& places, float* dw) {
  const int64_t begin = s.strips() * kDenseStrip * kDensePanel;
  for (int64_t panel = 0; panel < s.panels(); ++panel)
    std::fill(dw + panel * places.panel_stride + begin, dw + (panel + 1) * places.panel_stride, 0.0f);
}

// dw, or the weights themselves when "args" says so.
void ComputeWeights(const DensePass& pass, const float* x, const float* dy, void* workspace, DenseWeightsArgs args) {
  float* packed_x = static_cast<float*>(workspace);
  float* packed_dy = packed_x + pass.shape().packed_x() + (-pass.shape().packed_x() & 15);  // aligned to 64 bytes
  pass.PackX(x, packed_x);
  pass.PackDy(dy, packed_dy);
  args.packed_x = packed_x, args.packed_dy = packed_dy;
  pass.Share(pass.shape().strips(),
             [&](int64_t begin, int64_t end) { pass.simd().weights(pass.shape(), args, begin, end); });
}

int64_t WeightsWorkspace(const DenseShape& s) { return (s.packed_x() + 16 + s.packed_dy()) * kFloat; }

PreparedKernel PrepareFilterGradient(const DensePass& pass, const DensePlaces& places) {
  return {MakeKernel([=](const LaunchArgs& a) {
            ComputeWeights(pass, a.in<float>(0), a.in<float>(1), a.workspace,
                           {.dw = a.out<float>(0), .places = places});
            if (!places.is_plain) ClearPadding(pass.shape(), places, a.out<float>(0));
          }),
          WeightsWorkspace(pass.shape())};
}

}  // namespace

Layout DenseLayout(DType dtype, int64_t in, int64_t out) {
  if (dtype != DType::kFloat32 || in * out < kMinWeights || out < kMinColumns) return {};
  return Layout(std::make_shared<DensePanels>(in, out));
}

bool IsDense(const Layout& layout) { return FormatOf(layout) != nullptr; }

PreparedKernel PrepareDense(const KernelRequest& r, const DeviceCaps& caps) {
  const MatMulAttrs& attrs = r.attr<MatMulAttrs>();
  if (attrs.transpose_a)
    return PrepareFilterGradient({{r.in(0)[0], r.in(0)[1], r.in(1)[1]}, caps.threads}, PlacesOf(r.outputs[0]));
  const Shape& w = r.in(1);
  const DensePass pass({r.in(0)[0], w[0], w[1]}, caps.threads);
  const int64_t panel_stride = PanelStride(r.inputs[1].layout);
  if (attrs.transpose_b) return PrepareInputGradient(pass, panel_stride);
  return PrepareForward(pass, panel_stride, r.inputs.size() > 2, attrs.activation == Activation::kRelu);
}

// inputs var, alpha, x, dy[, decay].
PreparedKernel PrepareMatMulApply(const KernelRequest& r, const DeviceCaps& caps) {
  const DensePass pass({r.in(2)[0], r.in(2)[1], r.in(3)[1]}, caps.threads);
  return {MakeKernel(
              [=, places = PlacesOf(r.inputs[0]), decays = r.attr<ApplyAttrs>().has_weight_decay](const LaunchArgs& a) {
                ComputeWeights(pass, a.in<float>(2), a.in<float>(3), a.workspace,
                               {.dw = a.ref<float>(0),
                                .places = places,
                                .apply = true,
                                .rate = *a.in<float>(1),
                                .decay = decays ? *a.in<float>(4) : 0});
              }),
          WeightsWorkspace(pass.shape())};
}

// The weights as the layer's other passes want them: MatMulLayout leaves those of matrix-vector products plain.
LayoutWish MatMulApplyLayout(const KernelRequest& r, const DeviceCaps&) {
  LayoutWish wish{std::vector<Layout>(r.inputs.size()), std::vector<Layout>(1), true};
  const int64_t batch = r.in(2)[0], in = r.in(0)[0];
  if (batch <= 1 || in <= 1) return wish;
  wish.inputs[0] = wish.outputs[0] = DenseLayout(r.inputs[0].dtype, r.in(0)[0], r.in(0)[1]);
  return wish;
}

PreparedKernel PrepareAnyReorder(const KernelRequest& r, const DeviceCaps& caps) {
  const Layout &from = r.inputs[0].layout, &to = r.outputs[0].layout;
  const bool is_ours = IsDense(from) || IsDense(to) || BucketFormatOf(from) != nullptr || BucketFormatOf(to) != nullptr;
  if (from == to || !is_ours) return PrepareReorder(r, caps);
  MUSTER_CHECK(from.is_plain() || to.is_plain());
  return {MakeKernel([from, to](const LaunchArgs& a) {
    if (to.is_plain()) from.format()->Unpack(a.inputs[0], a.outputs[0]);
    else to.format()->Pack(a.inputs[0], a.outputs[0]);
  })};
}

}  // namespace muster::cpu
