#include "backend/sim/sim_table.h"

#include <fmt/format.h>

#include "backend/cpu/cpu_table.h"
#include "backend/reference/reference_table.h"
#include "backend/sim/sim_stream.h"
#include "graph/op_def.h"
#include "plan/conditional_kernel.h"

namespace muster {
namespace {

// What the CPU backend has no kernel of its own for the reference loops do, as on the CPU.
const KernelTable& InnerCpuTable() {
  static const KernelTable table({CpuRows(), ReferenceRows()});
  return table;
}

constexpr std::string_view kInputRoles[] = {"input 0", "input 1", "input 2", "input 3"};
constexpr std::string_view kOutputRoles[] = {"output 0", "output 1", "output 2", "output 3"};

const char* Role(std::span<const std::string_view> names, size_t i, const char* rest) {
  return i < names.size() ? names[i].data() : rest;
}

class SimKernel final : public Kernel {
 public:
  SimKernel(const KernelRequest& request, PreparedKernel& inner)
      : kernel_(std::move(inner.kernel)), what_(fmt::format("{} {}", OpName(request.kind), request.name)) {
    num_inputs_ = request.inputs.size();
    const auto num_refs = static_cast<size_t>(GetOpDef(request.kind).num_refs);
    for (size_t i = 0; i < num_inputs_; ++i)
      accesses_.push_back({nullptr, request.inputs[i].byte_size(), i < num_refs, Role(kInputRoles, i, "input")});
    for (size_t i = 0; i < request.outputs.size(); ++i)
      accesses_.push_back({nullptr, request.outputs[i].byte_size(), true, Role(kOutputRoles, i, "output")});
    accesses_.push_back({nullptr, inner.workspace_bytes, true, "workspace"});
  }

  void Launch(const LaunchArgs& args) override {
    if (args.stream == nullptr) return kernel_->Launch(args);  // the compiler folds a constant
    for (size_t i = 0; i < num_inputs_; ++i) accesses_[i].address = args.inputs[i];
    for (size_t i = num_inputs_; i + 1 < accesses_.size(); ++i) accesses_[i].address = args.outputs[i - num_inputs_];
    accesses_.back().address = args.workspace;
    static_cast<SimStream*>(args.stream)->Enqueue(what_, accesses_, [this, args] { kernel_->Launch(args); });
  }

 private:
  const std::unique_ptr<Kernel> kernel_;
  const std::string what_;
  size_t num_inputs_ = 0;
  std::vector<MemoryAccess> accesses_;  // inputs, outputs, workspace; addresses as of the last launch
};

using TableFn = const KernelTable& (*)();

template <TableFn Inner>
PreparedKernel PrepareSim(const KernelRequest& request, const DeviceCaps& caps) {
  PreparedKernel prepared = PrepareKernel(*Inner().Find(request.kind, KernelDType(request)), request, caps);
  prepared.kernel = std::make_unique<SimKernel>(request, prepared);
  return prepared;
}

template <TableFn Inner>
KernelTable Wrapped() {
  std::vector<KernelRow> rows;
  for (const KernelRow& row : Inner().rows()) rows.push_back({row.kind, row.dtype, PrepareSim<Inner>, row.layout});
  return KernelTable({std::move(rows)});
}

}  // namespace

const KernelTable& SimCpuTable() {
  static const KernelTable table = Wrapped<InnerCpuTable>();
  return table;
}

const KernelTable& SimReferenceTable() {
  static const KernelTable table = Wrapped<ReferenceTable>();
  return table;
}

}  // namespace muster
