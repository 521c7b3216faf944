#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/device.h"
#include "muster/attrs.h"
#include "muster/op_kind.h"

namespace muster {

// Values that a tensor's memory holds. In an opaque form its padding is among them, which element-wise work treats like
// the rest.
inline int64_t ValuesIn(const TensorDesc& desc) { return desc.byte_size() / static_cast<int64_t>(SizeOf(desc.dtype)); }

// What a kernel is asked to compute: one node with the descriptions of its values. The request lives only during
// Prepare.
struct KernelRequest {
  OpKind kind;
  const Attrs* attrs;
  std::vector<TensorDesc> inputs, outputs;
  std::string name;   // the node's, for messages and random streams
  uint64_t seed = 0;  // the graph's, for random streams

  template <typename A>
  const A& attr() const {
    return attrs->get<A>();
  }
  const Shape& in(int i) const { return inputs[static_cast<size_t>(i)].shape; }
  const Shape& out(int i) const { return outputs[static_cast<size_t>(i)].shape; }
};

// What a launch gets: addresses bound once when the executor is built, and the number of the step. Outputs
// that nothing reads have memory too. Inputs that a kernel updates in place (refs) appear among the inputs, non-const.
struct LaunchArgs {
  void* const* inputs = nullptr;
  void* const* outputs = nullptr;
  void* workspace = nullptr;
  int64_t step = 0;
  Stream* stream = nullptr;
  // after an interrupt (base/interrupt.h) the kernel may throw Error{Cancelled} in the midst of its work
  bool may_stop = false;

  template <typename T>
  const T* in(int i) const {
    return static_cast<const T*>(inputs[i]);
  }
  template <typename T>
  T* ref(int i) const {
    return static_cast<T*>(inputs[i]);
  }
  template <typename T>
  T* out(int i) const {
    return static_cast<T*>(outputs[i]);
  }
};

// One bound computation. Owned by the plan's step; Launch is called by the device's driver thread only, must not
// allocate or lock, and may be called from several executors one after another, never at once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void Launch(const LaunchArgs& args) = 0;
};

// A kernel that is a function object: MakeKernel([=](const LaunchArgs& a) { … }).
template <typename F>
std::unique_ptr<Kernel> MakeKernel(F launch) {
  struct FunctionKernel final : Kernel {
    explicit FunctionKernel(F f) : f(std::move(f)) {}
    void Launch(const LaunchArgs& args) override { f(args); }
    F f;
  };
  return std::make_unique<FunctionKernel>(std::move(launch));
}

// What Prepare found: the kernel and what it needs.
struct PreparedKernel {
  std::unique_ptr<Kernel> kernel;
  int64_t workspace_bytes = 0;
  // (output, input) pairs that may share memory when the input dies here; the planner takes the first that it can.
  std::vector<std::pair<int, int>> in_place;
};

// What the device offers a kernel.
struct DeviceCaps {
  int threads = 1;
};

using PrepareFn = PreparedKernel (*)(const KernelRequest& request, const DeviceCaps& caps);

// Layouts that a kernel would like: one per input and output, plain where it does not care. Asked before the layout
// pass fixes them; Prepare is then called with layouts that the table said it accepts (plain ones are always accepted).
struct LayoutWish {
  std::vector<Layout> inputs, outputs;
  // Holds for variables and their gradients only: an input that comes plain stays plain, and an output takes the wished
  // form only if an update of a variable in that form reads it.
  bool is_optional = false;
};
using LayoutFn = LayoutWish (*)(const KernelRequest& request, const DeviceCaps& caps);

// One row: how this backend computes an operation for a dtype (the dtype of the request's first floating input, else of
// its first input, else of its first output).
struct KernelRow {
  OpKind kind;
  DType dtype;
  PrepareFn prepare;
  LayoutFn layout = nullptr;
};

// The dtype that selects a row.
DType KernelDType(const KernelRequest& request);

// Answers "can this backend run it?" and finds the row. Built once from readable tables; constant afterwards.
class KernelTable {
 public:
  // Rows of earlier spans win.
  explicit KernelTable(std::vector<std::vector<KernelRow>> tables);
  const KernelRow* Find(OpKind kind, DType dtype) const;
  const std::vector<KernelRow>& rows() const { return rows_; }

 private:
  std::vector<KernelRow> rows_;
  std::vector<int> index_;
};

}  // namespace muster
