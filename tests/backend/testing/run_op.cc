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
    else inputs.push_back(ops::Placeholder(scope, desc.dtype, desc.shape));
  }
  return (op.name.empty() ? scope : scope.Named(op.name)).AddNode(op.kind, inputs, op.attrs);
}

Tensor Allocate(const TensorDesc& desc, int fill) {
  Tensor tensor(desc, Buffer::OnHost(static_cast<size_t>(desc.byte_size())));
  std::memset(tensor.raw(), fill, tensor.byte_size());
  return tensor;
}
Tensor Garbage(const TensorDesc& desc) { return Allocate(desc, 0x7b); }

// A copy of a row-major tensor in a layout, and the reverse.
Tensor Packed(const Tensor& plain, const Layout& layout) {
  if (layout.is_plain()) return plain.Clone();
  Tensor packed = Allocate({plain.dtype(), plain.shape(), layout}, 0);
  layout.format()->Pack(plain.raw(), packed.raw());
  return packed;
}
Tensor Unpacked(const Tensor& tensor) {
  if (tensor.is_empty() || tensor.desc().layout.is_plain()) return tensor;
  Tensor plain(tensor.dtype(), tensor.shape());
  tensor.desc().layout.format()->Unpack(tensor.raw(), plain.raw());
  return plain;
}

const KernelRow& RowFor(const KernelTable& table, const KernelRequest& request) {
  const DType dtype = KernelDType(request);
  const KernelRow* row = table.Find(request.kind, dtype);
  if (row == nullptr) throw NotFound(fmt::format("no kernel for {} {}", OpName(request.kind), DTypeName(dtype)));
  return *row;
}

void ApplyWishes(const KernelRow& row, const DeviceCaps& caps, KernelRequest* request) {
  if (row.layout == nullptr) return;
  const LayoutWish wish = row.layout(*request, caps);
  for (size_t i = 0; i < request->inputs.size(); ++i) request->inputs[i].layout = wish.inputs.at(i);
  for (size_t i = 0; i < request->outputs.size(); ++i) request->outputs[i].layout = wish.outputs.at(i);
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

std::vector<Tensor> RunOp(const KernelTable& table, const OpCase& op, const RunOptions& options) {
  KernelRequest request = RequestFor(op);
  const KernelRow& row = RowFor(table, request);
  if (options.use_wishes) ApplyWishes(row, options.caps, &request);
  PreparedKernel prepared = row.prepare(request, options.caps);

  std::vector<Tensor> inputs, outputs;
  for (size_t i = 0; i < op.inputs.size(); ++i) inputs.push_back(Packed(op.inputs[i], request.inputs[i].layout));
  for (const TensorDesc& desc : request.outputs) outputs.push_back(Garbage(desc));
  // Output 0 of an operation with refs is the first of them.
  const size_t num_refs = static_cast<size_t>(GetOpDef(op.kind).num_refs);
  if (num_refs > 0) outputs[0] = inputs[0];
  if (options.missing_output >= 0) outputs.at(static_cast<size_t>(options.missing_output)) = {};

  std::vector<void*> in, out;
  for (const Tensor& tensor : inputs) in.push_back(tensor.raw());
  for (const Tensor& tensor : outputs) out.push_back(tensor.is_empty() ? nullptr : tensor.raw());
  if (options.in_place >= 0) {
    const auto [output, input] = prepared.in_place.at(static_cast<size_t>(options.in_place));
    const Tensor& shared = outputs.at(static_cast<size_t>(output));
    if (shared.byte_size() != inputs.at(static_cast<size_t>(input)).byte_size())
      throw Internal(fmt::format("{} asks to compute output {} in place of input {} of another size", OpName(op.kind),
                                 output, input));
    std::memcpy(shared.raw(), in[static_cast<size_t>(input)], shared.byte_size());
    in[static_cast<size_t>(input)] = shared.raw();
  }
  const Tensor workspace = Garbage({DType::kUInt8, Shape{prepared.workspace_bytes}, {}});
  prepared.kernel->Launch({in.data(), out.data(), workspace.raw(), 0, nullptr});
  outputs.insert(outputs.end(), inputs.begin(), inputs.begin() + static_cast<long>(num_refs));
  for (Tensor& tensor : outputs) tensor = Unpacked(tensor);
  return outputs;
}

std::vector<std::pair<int, int>> InPlacePairs(const KernelTable& table, const OpCase& op) {
  const KernelRequest request = RequestFor(op);
  return RowFor(table, request).prepare(request, {}).in_place;
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
