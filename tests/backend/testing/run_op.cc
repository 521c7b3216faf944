#include "tests/backend/testing/run_op.h"

#include <cstring>

#include <fmt/format.h>

#include "graph/op_def.h"
#include "muster/error.h"
#include "muster/ops/state.h"

namespace muster::testing {
namespace {

// The operation as the last node of a graph of its own, behind variables and placeholders.
NodeId AddTo(Graph* graph, const OpCase& op) {
  Scope scope(graph);
  const int num_refs = GetOpDef(op.kind).num_refs;
  std::vector<Output> inputs;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const TensorDesc& desc = op.inputs[i].desc();
    if (static_cast<int>(i) < num_refs)
      inputs.push_back({scope.AddVariableNode(fmt::format("ref{}", i), desc.dtype, desc.shape), 0});
    else
      inputs.push_back(ops::Placeholder(scope, desc.dtype, desc.shape));
  }
  return (op.name.empty() ? scope : scope.Named(op.name)).AddNode(op.kind, inputs, op.attrs);
}

Tensor Garbage(const TensorDesc& desc) {
  Tensor tensor(desc.dtype, desc.shape);
  std::memset(tensor.raw(), 0x7b, tensor.byte_size());
  return tensor;
}

template <typename T>
T FromDouble(double value) {
  if constexpr (std::is_same_v<T, Float16>) return ToFloat16(static_cast<float>(value));
  else if constexpr (std::is_same_v<T, BFloat16>) return ToBFloat16(static_cast<float>(value));
  else return static_cast<T>(value);
}

template <typename T>
double AsDouble(T value) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) return ToFloat(value);
  else return static_cast<double>(value);
}

// Calls f with a null pointer to the element type.
template <typename F>
void WithType(DType dtype, F f) {
  switch (dtype) {
    case DType::kFloat32: return f(static_cast<float*>(nullptr));
    case DType::kFloat64: return f(static_cast<double*>(nullptr));
    case DType::kFloat16: return f(static_cast<Float16*>(nullptr));
    case DType::kBFloat16: return f(static_cast<BFloat16*>(nullptr));
    case DType::kInt32: return f(static_cast<int32_t*>(nullptr));
    case DType::kInt64: return f(static_cast<int64_t*>(nullptr));
    case DType::kUInt8: return f(static_cast<uint8_t*>(nullptr));
    case DType::kBool: return f(static_cast<bool*>(nullptr));
  }
}

Tensor FromDoubles(DType dtype, const Shape& shape, const std::vector<double>& values) {
  Tensor tensor(dtype, shape);
  WithType(dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    auto data = tensor.data<T>();
    for (size_t i = 0; i < data.size(); ++i) data[i] = FromDouble<T>(values[i]);
  });
  return tensor;
}

}  // namespace

KernelRequest RequestFor(const OpCase& op) {
  Graph graph;
  const Node& node = graph.node(AddTo(&graph, op));
  KernelRequest request{op.kind, &op.attrs, {}, node.outputs, node.name, static_cast<uint64_t>(graph.seed())};
  for (const Output& input : node.inputs) request.inputs.push_back(graph.desc(input));
  return request;
}

std::vector<Tensor> RunOp(const KernelTable& table, const OpCase& op, const DeviceCaps& caps) {
  const KernelRequest request = RequestFor(op);
  const DType dtype = KernelDType(request);
  const KernelRow* row = table.Find(op.kind, dtype);
  if (row == nullptr) throw NotFound(fmt::format("no kernel for {} {}", OpName(op.kind), DTypeName(dtype)));
  PreparedKernel prepared = row->prepare(request, caps);

  const size_t num_refs = static_cast<size_t>(GetOpDef(op.kind).num_refs);
  std::vector<Tensor> refs, outputs;
  std::vector<void*> in, out;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (i < num_refs) refs.push_back(op.inputs[i].Clone());
    in.push_back(i < num_refs ? refs.back().raw() : op.inputs[i].raw());
  }
  // Output 0 of an operation with refs is the first of them.
  for (size_t i = 0; i < request.outputs.size(); ++i)
    outputs.push_back(i == 0 && num_refs > 0 ? refs[0] : Garbage(request.outputs[i]));
  for (const Tensor& tensor : outputs) out.push_back(tensor.raw());
  const Tensor workspace = Garbage({DType::kUInt8, Shape{prepared.workspace_bytes}, {}});
  prepared.kernel->Launch({in.data(), out.data(), workspace.raw(), 0, nullptr});
  outputs.insert(outputs.end(), refs.begin(), refs.end());
  return outputs;
}

Tensor RandomTensor(DType dtype, const Shape& shape, uint64_t seed, double low, double high) {
  std::vector<double> values(static_cast<size_t>(shape.num_elements()));
  uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (double& value : values) {
    // SplitMix64: the numbers must not depend on a library's distribution.
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    value = low + (high - low) * static_cast<double>((z ^ (z >> 31)) >> 40) * 0x1p-24;
  }
  return FromDoubles(dtype, shape, values);
}

std::vector<double> ToDoubles(const Tensor& tensor) {
  std::vector<double> values;
  WithType(tensor.dtype(), [&](auto* type) {
    for (auto value : tensor.data<std::remove_pointer_t<decltype(type)>>()) values.push_back(AsDouble(value));
  });
  return values;
}

Tensor Converted(const Tensor& tensor, DType dtype) { return FromDoubles(dtype, tensor.shape(), ToDoubles(tensor)); }

}  // namespace muster::testing
