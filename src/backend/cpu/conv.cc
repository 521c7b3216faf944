#include <algorithm>
#include <cstring>

#include "backend/cpu/conv_as_matmul.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/onednn_adapter.h"
#include "backend/cpu/primitive_kernel.h"
#include "backend/cpu/winograd.h"
#include "base/check.h"

namespace muster::cpu {
namespace {

using onednn::ConvExtras;
using onednn::ConvKind;
using onednn::ConvProblem;

// Whether the convolution is ours or a matrix product: it then takes the plain filter.
bool TakesPlainFilter(ConvKind kind, const ConvProblem& p) { return RunsAsMatMul(p) || PrefersWinograd(kind, p); }

// One-dimensional geometry: paddings before and after, as TensorFlow's SAME and VALID give them.
std::pair<int64_t, int64_t> PaddingsOf(Padding padding, int64_t in, int64_t out, int64_t kernel, int64_t stride,
                                       int64_t dilation) {
  if (padding == Padding::kValid) return {0, 0};
  const int64_t total = std::max<int64_t>((out - 1) * stride + (kernel - 1) * dilation + 1 - in, 0);
  return {total / 2, total - total / 2};
}

ConvProblem ProblemOf(const ConvAttrs& attrs, DType dtype, DType filter_dtype, const Shape& x, const Shape& filter,
                      const Shape& y, bool depthwise) {
  MUSTER_CHECK(attrs.data_format == DataFormat::kNHWC);
  ConvProblem p;
  p.dtype = dtype;
  p.filter_dtype = filter_dtype;
  p.batch = x[0], p.in_h = x[1], p.in_w = x[2], p.in_c = x[3];
  p.out_h = y[1], p.out_w = y[2], p.out_c = y[3];
  p.kernel_h = filter[0], p.kernel_w = filter[1];
  p.groups = depthwise ? x[3] : x[3] / std::max<int64_t>(filter[2], 1);
  p.strides = attrs.strides;
  p.dilations = attrs.dilations;
  if (attrs.padding == Padding::kExplicit) {
    p.paddings = attrs.explicit_paddings;
  } else {
    const auto [top, bottom] = PaddingsOf(attrs.padding, x[1], y[1], filter[0], attrs.strides[0], attrs.dilations[0]);
    const auto [left, right] = PaddingsOf(attrs.padding, x[2], y[2], filter[1], attrs.strides[1], attrs.dilations[1]);
    p.paddings = {top, bottom, left, right};
  }
  return p;
}

// A request with its role and the places of its tensors.
struct ConvRequest {
  ConvKind kind;
  ConvProblem problem;
  ConvExtras extras;
  Layout filter;  // of the filter or its gradient, as given
};

ConvRequest Read(const KernelRequest& r) {
  const ConvAttrs& attrs = r.attr<ConvAttrs>();
  const auto problem = [&](const TensorDesc& x, const TensorDesc& filter, const TensorDesc& y, bool depthwise) {
    return ProblemOf(attrs, x.dtype, filter.dtype, x.shape, filter.shape, y.shape, depthwise);
  };
  const bool depthwise = r.kind == OpKind::kDepthwiseConv2dNative ||
                         r.kind == OpKind::kDepthwiseConv2dNativeBackpropInput ||
                         r.kind == OpKind::kDepthwiseConv2dNativeBackpropFilter;
  switch (r.kind) {
    case OpKind::kConv2D:
    case OpKind::k_FusedConv2D:
    case OpKind::kDepthwiseConv2dNative:
      return {ConvKind::kForward,
              problem(r.inputs[0], r.inputs[1], r.outputs[0], depthwise),
              {.bias = r.inputs.size() > 2, .relu = attrs.activation == Activation::kRelu},
              r.inputs[1].layout};
    case OpKind::kConv2DBackpropInput:
    case OpKind::kDepthwiseConv2dNativeBackpropInput:
      return {
          ConvKind::kBackwardData, problem(r.outputs[0], r.inputs[0], r.inputs[1], depthwise), {}, r.inputs[0].layout};
    case OpKind::kConv2DBackpropFilter:
    case OpKind::k_FusedConv2DBackpropFilter:
    case OpKind::kDepthwiseConv2dNativeBackpropFilter:
      return {ConvKind::kBackwardFilter,
              problem(r.inputs[0], r.outputs[0], r.inputs[1], depthwise),
              {.bias = r.outputs.size() > 1},
              r.outputs[0].layout};
    default: MUSTER_CHECK(false);
  }
}

bool IsEmpty(const KernelRequest& r) {
  const auto empty = [](const TensorDesc& d) { return d.shape.num_elements() == 0; };
  return std::ranges::any_of(r.inputs, empty) || std::ranges::any_of(r.outputs, empty);
}

// Sums over nothing: zeros.
PreparedKernel ZeroKernel(const KernelRequest& r) {
  std::vector<int64_t> bytes;
  for (const TensorDesc& output : r.outputs) bytes.push_back(output.byte_size());
  return {MakeKernel([bytes](const LaunchArgs& a) {
    for (size_t i = 0; i < bytes.size(); ++i)
      if (a.outputs[i] != nullptr && bytes[i] > 0) std::memset(a.outputs[i], 0, static_cast<size_t>(bytes[i]));
  })};
}

// The gradient of a filter, and behind it that of the bias: the sum of dy (input 1) over all pixels.
class WithBiasGradient final : public Kernel {
 public:
  WithBiasGradient(PreparedKernel filter, PreparedKernel bias) : filter_(std::move(filter)), bias_(std::move(bias)) {}
  int64_t workspace_bytes() const { return std::max(filter_.workspace_bytes, bias_.workspace_bytes); }

  void Launch(const LaunchArgs& a) override {
    filter_.kernel->Launch(a);
    if (a.outputs[1] == nullptr) return;
    LaunchArgs bias = a;
    bias.inputs = a.inputs + 1, bias.outputs = a.outputs + 1;
    bias_.kernel->Launch(bias);
  }

 private:
  PreparedKernel filter_, bias_;
};

PreparedKernel WithBias(PreparedKernel filter, const KernelRequest& r, const DeviceCaps& caps) {
  const Attrs attrs = BiasAddAttrs{};
  const KernelRequest bias{
      .kind = OpKind::kBiasAddGrad, .attrs = &attrs, .inputs = {r.inputs[1]}, .outputs = {r.outputs[1]}};
  auto kernel = std::make_unique<WithBiasGradient>(std::move(filter), PrepareBiasAddGrad(bias, caps));
  const int64_t bytes = kernel->workspace_bytes();
  return {std::move(kernel), bytes};
}

PreparedKernel PrepareWithPlainFilter(const ConvRequest& c, const KernelRequest& r, const DeviceCaps& caps) {
  const bool is_product = RunsAsMatMul(c.problem);
  if (c.kind != ConvKind::kBackwardFilter) {
    return is_product ? PrepareConvAsMatMul(c.kind, c.problem, c.extras, caps.threads)
                      : PrepareWinograd(c.kind, c.problem, c.extras, caps.threads);
  }
  PreparedKernel filter = is_product ? PrepareConvAsMatMul(c.kind, c.problem, c.extras, caps.threads)
                                     : PrepareWinogradFilterGradient(c.problem, caps.threads);
  return c.extras.bias ? WithBias(std::move(filter), r, caps) : std::move(filter);
}

// The layout in which this convolution wants the filter. All three want the forward pass' own choice, the variable's
// layout, as long as it costs them no better implementation.
Layout FilterWish(const ConvRequest& c, int threads) {
  if (TakesPlainFilter(c.kind, c.problem)) return {};
  if (c.kind == ConvKind::kForward) return ChooseFilter(c.kind, c.problem, c.extras, threads).layout;
  ConvProblem forward = c.problem;
  forward.filter_dtype = forward.dtype;
  const Layout variable = TakesPlainFilter(ConvKind::kForward, forward)
                              ? Layout()
                              : ChooseFilter(ConvKind::kForward, forward, {}, threads).layout;
  const onednn::FilterChoice own = ChooseFilter(c.kind, c.problem, c.extras, threads);
  if (c.problem.filter_dtype != c.problem.dtype || own.layout == variable) return own.layout;
  return ImplementationFor(c.kind, c.problem, c.extras, variable, threads) == own.implementation ? variable
                                                                                                 : own.layout;
}

}  // namespace

LayoutWish ConvLayout(const KernelRequest& r, const DeviceCaps& caps) {
  LayoutWish wish{std::vector<Layout>(r.inputs.size()), std::vector<Layout>(r.outputs.size())};
  if (IsEmpty(r)) return wish;
  const ConvRequest c = Read(r);
  const Layout filter = FilterWish(c, caps.threads);
  switch (c.kind) {
    case ConvKind::kForward: wish.inputs[1] = filter; break;
    case ConvKind::kBackwardData: wish.inputs[0] = filter; break;
    case ConvKind::kBackwardFilter: wish.outputs[0] = filter; break;
  }
  return wish;
}

PreparedKernel PrepareConv(const KernelRequest& r, const DeviceCaps& caps) {
  if (IsEmpty(r)) return ZeroKernel(r);
  const ConvRequest c = Read(r);
  if (c.filter.is_plain() && TakesPlainFilter(c.kind, c.problem)) return PrepareWithPlainFilter(c, r, caps);
  onednn::Primitive primitive = MakeConv(c.kind, c.problem, c.extras, c.filter, caps.threads);
  switch (c.kind) {
    case ConvKind::kForward:
      if (c.extras.bias) return PrimitiveKernel(std::move(primitive), {In(0), In(1), In(2), Out(0)});
      return PrimitiveKernel(std::move(primitive), {In(0), In(1), Out(0)});
    case ConvKind::kBackwardData: return PrimitiveKernel(std::move(primitive), {In(1), In(0), Out(0)});
    case ConvKind::kBackwardFilter:
      if (c.extras.bias)
        return PrimitiveKernel(std::move(primitive), {In(0), In(1), Out(0), Out(1)}, r.outputs[1].byte_size());
      return PrimitiveKernel(std::move(primitive), {In(0), In(1), Out(0)});
  }
  MUSTER_CHECK(false);
}

PreparedKernel PrepareReorder(const KernelRequest& r, const DeviceCaps& caps) {
  const Layout &from = r.inputs[0].layout, &to = r.outputs[0].layout;
  if (from == to) {
    return {MakeKernel([bytes = static_cast<size_t>(r.inputs[0].byte_size())](const LaunchArgs& a) {
              std::memcpy(a.outputs[0], a.inputs[0], bytes);
            }),
            0,
            {{0, 0}}};
  }
  return PrimitiveKernel(onednn::MakeReorder(from, to, caps.threads), {In(0), Out(0)});
}

}  // namespace muster::cpu
