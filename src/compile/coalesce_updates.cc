// Updates of one kind with the same scalars, over variables, slots and gradients that lie side by side in the same
// order, are one sweep over memory: a single step with the sum of their elements.

#include <algorithm>
#include <set>

#include "compile/passes.h"
#include "compile/update_ops.h"
#include "graph/op_def.h"

namespace muster {
namespace {

bool IsUpdate(OpKind kind) { return GradientInputOf(kind) >= 0; }

bool SamePlace(const Place& a, const Place& b) {
  return a.region == b.region && a.index == b.index && a.offset == b.offset;
}

class Coalescer {
 public:
  // "neighbour": by variable, the next one of its device in the order of memory, or -1.
  Coalescer(Partition& partition, const CompileRequest& request, const std::vector<int>& neighbour)
      : partition_(partition), request_(request), variables_(*request.variables), neighbour_(neighbour) {}

  void Run() {
    std::vector<Step> old = std::move(partition_.steps);
    partition_.steps.clear();
    for (size_t begin = 0; begin < old.size();) {
      size_t end = begin + 1;
      if (IsUpdate(old[begin].kind))
        while (end < old.size() && old[end].kind == old[begin].kind) ++end;
      if (!AreIndependent(old, begin, end)) end = begin + 1;
      if (end - begin > 1)
        std::sort(old.begin() + static_cast<long>(begin), old.begin() + static_cast<long>(end),
                  [&](const Step& a, const Step& b) { return Position(a.inputs[0]) < Position(b.inputs[0]); });
      // A run of steps that continue each other.
      while (begin < end) {
        size_t last = begin + 1;
        while (last < end && Continues(old[last - 1], old[last])) ++last;
        if (last - begin == 1 || !Merge(old, begin, last))
          for (size_t s = begin; s < last; ++s) partition_.steps.push_back(std::move(old[s]));
        begin = last;
      }
    }
  }

 private:
  int Position(const Place& variable) const { return variables_.position(variable.index); }

  // Variables, slots and the gradient are arrays, of whatever rank; the other inputs are scalars.
  static bool IsArray(const Step& step, size_t input) {
    return static_cast<int>(input) < GetOpDef(step.kind).num_refs ||
           static_cast<int>(input) == GradientInputOf(step.kind);
  }

  // Whether the steps may run in any order: none reads a variable that another writes, and none writes one twice.
  static bool AreIndependent(const std::vector<Step>& steps, size_t begin, size_t end) {
    std::set<int> written;
    for (size_t s = begin; s < end; ++s)
      for (int i = 0; i < GetOpDef(steps[s].kind).num_refs; ++i)
        if (!written.insert(steps[s].inputs[static_cast<size_t>(i)].index).second) return false;
    for (size_t s = begin; s < end; ++s)
      for (size_t i = static_cast<size_t>(GetOpDef(steps[s].kind).num_refs); i < steps[s].inputs.size(); ++i)
        if (steps[s].inputs[i].region == Region::kVariable && written.count(steps[s].inputs[i].index) > 0) return false;
    return true;
  }

  // Whether the memory of "next" begins where that of "place" ends.
  bool IsContiguous(const Place& place, int64_t bytes, const Place& next) const {
    if (place.region != next.region) return false;
    if (place.region == Region::kGradient || place.region == Region::kChannel)
      return place.offset + AlignUp(bytes) == next.offset;
    if (place.region != Region::kVariable) return false;
    const auto& a = variables_.entry(place.index);
    const auto& b = variables_.entry(next.index);
    if (a.device != b.device || a.chunk != b.chunk) return false;
    if (a.chunk >= 0) return a.offset + AlignUp(bytes) == b.offset;
    // Neither has memory yet: they will lie side by side if they are neighbours in the order of memory.
    return neighbour_[static_cast<size_t>(place.index)] == next.index;
  }

  bool Continues(const Step& step, const Step& next) const {
    if (step.kind != next.kind || !(step.attrs == next.attrs) || step.inputs.size() != next.inputs.size()) return false;
    for (size_t i = 0; i < next.inputs.size(); ++i) {
      if (next.input_descs[i].dtype != step.input_descs[i].dtype) return false;
      const bool continues = IsArray(step, i)
                                 ? IsContiguous(step.inputs[i], step.input_descs[i].byte_size(), next.inputs[i])
                                 : SamePlace(step.inputs[i], next.inputs[i]);
      if (!continues) return false;
    }
    return true;
  }

  // Adds one step in place of those. Not where it needs more workspace than was planned for the first of them, as
  // kernels for half precision do: false then.
  bool Merge(std::vector<Step>& steps, size_t begin, size_t end) {
    int64_t bytes = steps[end - 1].input_descs[0].byte_size();
    for (size_t s = begin; s + 1 < end; ++s) bytes += AlignUp(steps[s].input_descs[0].byte_size());
    const Step& first = steps[begin];
    std::vector<TensorDesc> inputs = first.input_descs;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (IsArray(first, i))
        inputs[i] = {inputs[i].dtype, Shape{bytes / static_cast<int64_t>(SizeOf(inputs[i].dtype))}, {}};
    const CompileDevice& device = request_.devices[static_cast<size_t>(partition_.device_index)];
    const KernelRequest request{first.kind,  &first.attrs, inputs,
                                {inputs[0]}, first.name,   static_cast<uint64_t>(request_.graph->seed())};
    PreparedKernel prepared = PrepareOn(device, *device.kernels->Find(first.kind, KernelDType(request)), request);
    if (prepared.workspace_bytes > first.workspace_bytes) return false;
    Step& merged = partition_.steps.emplace_back(std::move(steps[begin]));
    merged.input_descs = request.inputs;
    merged.output_descs = request.outputs;
    merged.kernel = std::move(prepared.kernel);
    return true;
  }

  Partition& partition_;
  const CompileRequest& request_;
  const VariableTable& variables_;
  const std::vector<int>& neighbour_;
};

}  // namespace

void CoalesceUpdates(Plan& plan, const CompileRequest& request) {
  std::vector<int> neighbour(static_cast<size_t>(request.variables->size()), -1);
  for (const std::vector<int>& of_device : request.variables->ByDevice(static_cast<int>(request.devices.size())))
    for (size_t i = 1; i < of_device.size(); ++i) neighbour[static_cast<size_t>(of_device[i - 1])] = of_device[i];
  for (Partition& partition : plan.partitions) Coalescer(partition, request, neighbour).Run();
}

}  // namespace muster
