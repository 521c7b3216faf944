#include "plan/half_kernel.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "graph/op_def.h"
#include "muster/error.h"

namespace muster {
namespace {

constexpr int64_t kCopyAlignment = 64;

// What the kernel for float32 is told of a value. An opaque form looks like a row of all that its memory holds, the
// padding included: only kernels that work element by element are given one (compile/layout_rules.h).
TensorDesc InFloat32(const TensorDesc& desc) {
  if (!IsHalf(desc.dtype)) return desc;
  return {DType::kFloat32, desc.layout.is_plain() ? desc.shape : Shape{ValuesIn(desc)}, {}};
}

// Whether the request has no opaque form, or one that all its tensors share; only then do equal places hold equal
// elements.
bool HasOneForm(const KernelRequest& request) {
  const TensorDesc* first = nullptr;
  for (const auto* descs : {&request.inputs, &request.outputs})
    for (const TensorDesc& desc : *descs) {
      if (desc.shape.rank() == 0) continue;
      if (first != nullptr && !(desc.layout == first->layout)) return false;
      first = &desc;
    }
  return true;
}

// A half-precision operand and its float32 copy in the workspace.
struct Copy {
  size_t index = 0;  // among inputs or outputs
  DType dtype = DType::kFloat16;
  int64_t elements = 0;  // in memory, padding included
  int64_t offset = 0;
};

class HalfKernel final : public Kernel {
 public:
  HalfKernel(const KernelRequest& request, PreparedKernel inner, const HalfConversions& conversions, int threads)
      : inner_(std::move(inner.kernel)),
        conversions_(conversions),
        threads_(threads),
        num_refs_(static_cast<size_t>(GetOpDef(request.kind).num_refs)),
        inputs_(request.inputs.size()),
        outputs_(request.outputs.size()),
        bytes_(Aligned(inner.workspace_bytes)) {
    for (size_t i = 0; i < inputs_.size(); ++i) AddCopy(request.inputs[i], i, &input_copies_);
    // What is updated in place is its first input, under another name.
    for (size_t i = num_refs_ > 0 ? 1 : 0; i < outputs_.size(); ++i) AddCopy(request.outputs[i], i, &output_copies_);
  }

  int64_t workspace_bytes() const { return bytes_; }

  void Launch(const LaunchArgs& args) override {
    std::copy_n(args.inputs, inputs_.size(), inputs_.begin());
    std::copy_n(args.outputs, outputs_.size(), outputs_.begin());
    for (const Copy& copy : input_copies_) {
      float* single = At(args, copy);
      conversions_.widen(copy.dtype, args.inputs[copy.index], single, copy.elements, threads_);
      inputs_[copy.index] = single;
    }
    for (const Copy& copy : output_copies_)
      if (args.outputs[copy.index] != nullptr) outputs_[copy.index] = At(args, copy);
    if (num_refs_ > 0 && !outputs_.empty()) outputs_[0] = inputs_[0];
    LaunchArgs single = args;
    single.inputs = inputs_.data(), single.outputs = outputs_.data();
    inner_->Launch(single);
    for (const Copy& copy : output_copies_)
      if (args.outputs[copy.index] != nullptr)
        conversions_.narrow(copy.dtype, At(args, copy), args.outputs[copy.index], copy.elements, threads_);
    for (const Copy& copy : input_copies_)
      if (copy.index < num_refs_)
        conversions_.narrow(copy.dtype, At(args, copy), args.inputs[copy.index], copy.elements, threads_);
  }

 private:
  static int64_t Aligned(int64_t bytes) { return (bytes + kCopyAlignment - 1) / kCopyAlignment * kCopyAlignment; }
  static float* At(const LaunchArgs& args, const Copy& copy) {
    return reinterpret_cast<float*>(static_cast<char*>(args.workspace) + copy.offset);
  }

  void AddCopy(const TensorDesc& desc, size_t index, std::vector<Copy>* copies) {
    if (!IsHalf(desc.dtype)) return;
    copies->push_back({index, desc.dtype, ValuesIn(desc), bytes_});
    bytes_ += Aligned(ValuesIn(desc) * static_cast<int64_t>(sizeof(float)));
  }

  const std::unique_ptr<Kernel> inner_;
  const HalfConversions conversions_;
  const int threads_;
  const size_t num_refs_;
  std::vector<Copy> input_copies_, output_copies_;
  std::vector<void*> inputs_, outputs_;  // of the inner kernel, as of the last launch
  int64_t bytes_;
};

}  // namespace

PreparedKernel PrepareInFloat32(const KernelRequest& request, const DeviceCaps& caps, const KernelTable& table,
                                const HalfConversions& conversions) {
  MUSTER_CHECK(HasOneForm(request));
  KernelRequest single = request;
  for (auto* descs : {&single.inputs, &single.outputs})
    for (TensorDesc& desc : *descs) desc = InFloat32(desc);
  const KernelRow* row = table.Find(single.kind, KernelDType(single));
  if (row == nullptr) throw Unimplemented(fmt::format("no float32 kernel to compute {} with", OpName(request.kind)));
  auto kernel = std::make_unique<HalfKernel>(request, row->prepare(single, caps), conversions, caps.threads);
  const int64_t bytes = kernel->workspace_bytes();
  return {std::move(kernel), bytes, {}};
}

std::vector<KernelRow> HalfRowsFor(const std::vector<KernelRow>& rows, PrepareFn prepare) {
  std::vector<KernelRow> halves;
  for (const KernelRow& row : rows) {
    if (row.dtype != DType::kFloat32) continue;
    halves.push_back({row.kind, DType::kFloat16, prepare});
    halves.push_back({row.kind, DType::kBFloat16, prepare});
  }
  return halves;
}

}  // namespace muster
