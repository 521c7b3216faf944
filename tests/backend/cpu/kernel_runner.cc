#include "tests/backend/cpu/kernel_runner.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "backend/cpu/cpu_table.h"
#include "base/philox.h"

namespace muster::cpu {
namespace {

// MUSTER_TEST_SIMD=avx2 or scalar takes better instruction sets away before any kernel is prepared.
class ChooseSimd : public testing::Environment {
 public:
  void SetUp() override {
    const char* simd = std::getenv("MUSTER_TEST_SIMD");
    if (simd == nullptr) return;
    hwy::DisableTargets(std::strcmp(simd, "scalar") == 0 ? HWY_AVX3 | HWY_AVX3_DL | HWY_AVX2 | HWY_SSE4 | HWY_SSSE3
                                                         : HWY_AVX3 | HWY_AVX3_DL);
  }
};
const testing::Environment* const kChooseSimd = testing::AddGlobalTestEnvironment(new ChooseSimd);

void FillWithNan(Tensor* tensor) { std::memset(tensor->raw(), 0xFF, tensor->byte_size()); }

Tensor Allocate(const TensorDesc& desc) { return Tensor(desc, Buffer::OnHost(static_cast<size_t>(desc.byte_size()))); }

Tensor Packed(const Tensor& plain, const Layout& layout) {
  if (layout.is_plain()) return plain;
  TensorDesc desc = plain.desc();
  desc.layout = layout;
  Tensor packed = Allocate(desc);
  layout.format()->Pack(plain.raw(), packed.raw());
  return packed;
}

Tensor Unpacked(const Tensor& packed) {
  if (packed.desc().layout.is_plain()) return packed;
  TensorDesc desc = packed.desc();
  desc.layout = {};
  Tensor plain = Allocate(desc);
  packed.desc().layout.format()->Unpack(packed.raw(), plain.raw());
  return plain;
}

}  // namespace

std::vector<Tensor> RunKernel(OpKind kind, const Attrs& attrs, const std::vector<Tensor>& inputs,
                              const std::vector<TensorDesc>& outputs, const RunOptions& options) {
  static const KernelTable table({CpuRows()});
  KernelRequest request{
      .kind = kind, .attrs = &attrs, .inputs = {}, .outputs = outputs, .name = options.name, .seed = options.seed};
  for (const Tensor& input : inputs) request.inputs.push_back(input.desc());
  const KernelRow* row = table.Find(kind, KernelDType(request));
  if (row == nullptr) throw Internal("no row for " + std::string(OpName(kind)));
  const DeviceCaps caps{options.threads};

  std::vector<Tensor> given = inputs;
  if (options.use_wishes && row->layout != nullptr) {
    const LayoutWish wish = row->layout(request, caps);
    for (size_t i = 0; i < given.size(); ++i) {
      given[i] = Packed(inputs[i], wish.inputs.at(i));
      request.inputs[i].layout = wish.inputs[i];
    }
    for (size_t i = 0; i < outputs.size(); ++i) request.outputs[i].layout = wish.outputs.at(i);
  }
  PreparedKernel prepared = row->prepare(request, caps);

  std::vector<Tensor> made;
  std::vector<void*> in, out;
  for (const Tensor& input : given) in.push_back(input.raw());
  for (const TensorDesc& desc : request.outputs) {
    made.push_back(Allocate(desc));
    FillWithNan(&made.back());
    out.push_back(made.back().raw());
  }
  const auto workspace = Buffer::OnHost(static_cast<size_t>(prepared.workspace_bytes));
  std::memset(workspace->data(), 0xFF, workspace->bytes());
  prepared.kernel->Launch({in.data(), out.data(), workspace->data(), options.step, nullptr});
  for (Tensor& tensor : made) {
    const Tensor plain = Unpacked(tensor);
    // Sums and updates of whole blocks go over the padding too, and trust that it is zero.
    const Tensor whole = Packed(plain, tensor.desc().layout);
    EXPECT_EQ(std::memcmp(whole.raw(), tensor.raw(), tensor.byte_size()), 0) << "the padding is not all zeros";
    tensor = plain;
  }
  return made;
}

TensorDesc F32(const Shape& shape) { return {DType::kFloat32, shape, {}}; }

Tensor Random(const Shape& shape, uint32_t seed, float low, float high) {
  Tensor tensor(DType::kFloat32, shape);
  const Philox philox(seed, 0);
  uint64_t i = 0;
  for (float& value : tensor.data<float>()) {
    value = low + (high - low) * UniformFloat(philox(0, i / 4)[i % 4]);
    ++i;
  }
  return tensor;
}

Tensor AsBFloat16(const Tensor& x) {
  Tensor half(DType::kBFloat16, x.shape());
  std::ranges::transform(x.data<float>(), half.data<BFloat16>().begin(), ToBFloat16);
  return half;
}

Tensor AsFloat32(const Tensor& x) {
  if (x.dtype() == DType::kFloat32) return x;
  Tensor single(DType::kFloat32, x.shape());
  std::ranges::transform(x.data<BFloat16>(), single.data<float>().begin(),
                         [](BFloat16 value) { return ToFloat(value); });
  return single;
}

void ExpectNear(const Tensor& got, const Tensor& expected, double tolerance) {
  ASSERT_EQ(got.desc().shape.ToString(), expected.desc().shape.ToString());
  const auto a = got.data<float>(), b = expected.data<float>();
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    ASSERT_LE(std::abs(x - y), tolerance * (1 + std::abs(y))) << "element " << i << ": " << x << " instead of " << y;
  }
}

void ExpectEqualBits(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.byte_size(), b.byte_size());
  EXPECT_EQ(std::memcmp(a.raw(), b.raw(), a.byte_size()), 0);
}

}  // namespace muster::cpu
