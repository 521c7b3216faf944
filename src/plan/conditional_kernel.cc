#include "plan/conditional_kernel.h"

#include "graph/op_def.h"

namespace muster {
namespace {

class ConditionalKernel final : public Kernel {
 public:
  ConditionalKernel(std::unique_ptr<Kernel> update, int condition)
      : update_(std::move(update)), condition_(condition) {}

  void Launch(const LaunchArgs& args) override {
    if (*args.in<bool>(condition_)) update_->Launch(args);
  }

 private:
  const std::unique_ptr<Kernel> update_;
  const int condition_;
};

}  // namespace

bool IsConditional(const KernelRequest& request) {
  const size_t num_refs = static_cast<size_t>(GetOpDef(request.kind).num_refs);
  return num_refs > 0 && request.inputs.size() > num_refs + 1 && request.inputs.back().dtype == DType::kBool;
}

PreparedKernel PrepareKernel(const KernelRow& row, const KernelRequest& request, const DeviceCaps& caps) {
  if (!IsConditional(request)) return row.prepare(request, caps);
  KernelRequest always = request;
  always.inputs.pop_back();
  PreparedKernel prepared = row.prepare(always, caps);
  prepared.kernel =
      std::make_unique<ConditionalKernel>(std::move(prepared.kernel), static_cast<int>(always.inputs.size()));
  return prepared;
}

}  // namespace muster
