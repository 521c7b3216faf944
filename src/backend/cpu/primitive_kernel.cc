#include "backend/cpu/primitive_kernel.h"

#include <algorithm>

#include "base/check.h"

namespace muster::cpu {
namespace {

constexpr int64_t kAlignment = 64;

class PrimitiveKernelImpl final : public Kernel {
 public:
  PrimitiveKernelImpl(onednn::Primitive primitive, std::initializer_list<Operand> operands, int64_t scrap_offset)
      : primitive_(std::move(primitive)), count_(operands.size()), scrap_offset_(scrap_offset) {
    MUSTER_CHECK(count_ <= operands_.size());
    std::ranges::copy(operands, operands_.begin());
  }

  void Launch(const LaunchArgs& args) override {
    std::array<void*, kMaxOperands> addresses;
    char* workspace = static_cast<char*>(args.workspace);
    for (size_t i = 0; i < count_; ++i) {
      const Operand operand = operands_[i];
      addresses[i] = operand.is_output ? args.outputs[operand.index] : args.inputs[operand.index];
      if (addresses[i] == nullptr) addresses[i] = workspace + scrap_offset_;
    }
    primitive_.Run({addresses.data(), count_}, workspace);
  }

 private:
  static constexpr size_t kMaxOperands = 6;

  onednn::Primitive primitive_;
  std::array<Operand, kMaxOperands> operands_{};
  size_t count_;
  int64_t scrap_offset_;
};

}  // namespace

PreparedKernel PrimitiveKernel(onednn::Primitive primitive, std::initializer_list<Operand> operands,
                               int64_t scrap_bytes) {
  const int64_t scrap_offset = (primitive.scratchpad_bytes() + kAlignment - 1) / kAlignment * kAlignment;
  PreparedKernel prepared;
  prepared.workspace_bytes = scrap_bytes > 0 ? scrap_offset + scrap_bytes : primitive.scratchpad_bytes();
  prepared.kernel = std::make_unique<PrimitiveKernelImpl>(std::move(primitive), operands, scrap_offset);
  return prepared;
}

}  // namespace muster::cpu
