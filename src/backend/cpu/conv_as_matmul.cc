#include "backend/cpu/conv_as_matmul.h"

#include <array>
#include <cstring>

#include "backend/cpu/kernels.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/primitive_kernel.h"
#include "base/check.h"

namespace muster::cpu {
namespace {

using onednn::ConvExtras;
using onednn::ConvKind;
using onednn::ConvProblem;
using onednn::MatMulProblem;

constexpr std::array<int64_t, 2> kOnes{1, 1};

// The pixels of [batch, in_h, in_w] that a strided 1x1 kernel meets; they become [batch, out_h, out_w] without gaps.
class MetPixels {
 public:
  MetPixels(const ConvProblem& p, int threads)
      : p_(p), threads_(threads), pixel_(static_cast<size_t>(p.in_c) * SizeOf(p.dtype)) {}

  int64_t byte_size() const { return p_.batch * p_.out_h * p_.out_w * static_cast<int64_t>(pixel_); }

  void Gather(const void* x, void* met) const {
    ForRows(p_.batch * p_.out_h, p_.out_w, [&](int64_t row) {
      const std::byte* from =
          static_cast<const std::byte*>(x) + (row / p_.out_h * p_.in_h + row % p_.out_h * p_.strides[0]) * in_row();
      std::byte* to = static_cast<std::byte*>(met) + row * out_row();
      for (int64_t i = 0; i < p_.out_w; ++i, from += p_.strides[1] * static_cast<int64_t>(pixel_), to += pixel_)
        std::memcpy(to, from, pixel_);
    });
  }

  // The reverse, with zeros in all other places.
  void Scatter(const void* met, void* x) const {
    ForRows(p_.batch * p_.in_h, p_.in_w, [&](int64_t row) {
      std::byte* to = static_cast<std::byte*>(x) + row * in_row();
      const int64_t image = row / p_.in_h, h = row % p_.in_h;
      if (h % p_.strides[0] != 0 || h / p_.strides[0] >= p_.out_h)
        return void(std::memset(to, 0, static_cast<size_t>(in_row())));
      const std::byte* from = static_cast<const std::byte*>(met) + (image * p_.out_h + h / p_.strides[0]) * out_row();
      for (int64_t w = 0; w < p_.in_w; ++w, to += pixel_) {
        const bool is_met = w % p_.strides[1] == 0 && w / p_.strides[1] < p_.out_w;
        is_met ? void(std::memcpy(to, from + w / p_.strides[1] * static_cast<int64_t>(pixel_), pixel_))
               : void(std::memset(to, 0, pixel_));
      }
    });
  }

 private:
  int64_t in_row() const { return p_.in_w * static_cast<int64_t>(pixel_); }
  int64_t out_row() const { return p_.out_w * static_cast<int64_t>(pixel_); }

  template <typename Body>
  void ForRows(int64_t rows, int64_t pixels, const Body& body) const {
    ParallelFor(threads_, rows, GrainFor(2 * pixels * static_cast<int64_t>(pixel_)), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) body(row);
    });
  }

  const ConvProblem p_;
  const int threads_;
  const size_t pixel_;  // bytes
};

// The product with the met pixels at the start of its workspace.
class StridedKernel final : public Kernel {
 public:
  StridedKernel(ConvKind kind, bool has_bias, PreparedKernel product, const MetPixels& pixels)
      : kind_(kind),
        has_bias_(has_bias),
        product_(std::move(product)),
        pixels_(pixels),
        met_bytes_((pixels.byte_size() + 63) / 64 * 64) {}

  int64_t workspace_bytes() const { return met_bytes_ + product_.workspace_bytes; }

  void Launch(const LaunchArgs& a) override {
    std::byte* met = static_cast<std::byte*>(a.workspace);
    LaunchArgs product = a;
    product.workspace = met + met_bytes_;
    if (kind_ == ConvKind::kBackwardData) {
      void* outputs[] = {met};
      product.outputs = outputs;
      product_.kernel->Launch(product);
      return pixels_.Scatter(met, a.outputs[0]);
    }
    pixels_.Gather(a.inputs[0], met);
    void* inputs[] = {met, a.inputs[1], has_bias_ ? a.inputs[2] : nullptr};
    product.inputs = inputs;
    product_.kernel->Launch(product);
  }

 private:
  const ConvKind kind_;
  const bool has_bias_;
  const PreparedKernel product_;
  const MetPixels pixels_;
  const int64_t met_bytes_;
};

PreparedKernel Product(ConvKind kind, const ConvProblem& p, const ConvExtras& extras, int threads) {
  const int64_t pixels = p.batch * p.out_h * p.out_w;
  MatMulProblem m{.dtype = p.dtype,
                  .float32_result = kind == ConvKind::kBackwardFilter && p.filter_dtype == DType::kFloat32};
  switch (kind) {
    case ConvKind::kForward:
      m.m = pixels, m.k = p.in_c, m.n = p.out_c;
      m.bias = extras.bias, m.relu = extras.relu;
      if (m.bias) return PrimitiveKernel(MakeMatMul(m, threads), {In(0), In(1), In(2), Out(0)});
      return PrimitiveKernel(MakeMatMul(m, threads), {In(0), In(1), Out(0)});
    case ConvKind::kBackwardData:
      m.m = pixels, m.k = p.out_c, m.n = p.in_c, m.transpose_b = true;
      return PrimitiveKernel(MakeMatMul(m, threads), {In(1), In(0), Out(0)});
    case ConvKind::kBackwardFilter:
      m.m = p.in_c, m.k = pixels, m.n = p.out_c, m.transpose_a = true;
      return PrimitiveKernel(MakeMatMul(m, threads), {In(0), In(1), Out(0)});
  }
  MUSTER_CHECK(false);
}

}  // namespace

bool RunsAsMatMul(const ConvProblem& p) {
  return p.kernel_h == 1 && p.kernel_w == 1 && p.groups == 1 && p.paddings == decltype(p.paddings){};
}

PreparedKernel PrepareConvAsMatMul(ConvKind kind, const ConvProblem& p, const ConvExtras& extras, int threads) {
  PreparedKernel product = Product(kind, p, extras, threads);
  if (p.strides == kOnes) return product;
  auto kernel = std::make_unique<StridedKernel>(kind, kind == ConvKind::kForward && extras.bias, std::move(product),
                                                MetPixels(p, threads));
  const int64_t bytes = kernel->workspace_bytes();
  return {std::move(kernel), bytes};
}

}  // namespace muster::cpu
