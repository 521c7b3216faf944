// Sources, variables, identity and control: the operations that have no arithmetic.

#include "muster/ops/state.h"

#include <fmt/format.h>

#include "core/convert.h"
#include "graph/op_def.h"
#include "graph/ops/gradient_rules.h"
#include "graph/ops/shape_checks.h"

namespace muster {
namespace {

std::vector<TensorDesc> PlaceholderShape(const ShapeContext& c) {
  const auto& a = c.attr<PlaceholderAttrs>();
  return {{a.dtype, a.shape, {}}};
}

std::vector<TensorDesc> ConstShape(const ShapeContext& c) {
  const Tensor& value = c.attr<ConstAttrs>().value;
  if (value.is_empty() || !value.desc().layout.is_plain()) throw InvalidArgument("needs a row-major tensor");
  return {value.desc()};
}

std::vector<TensorDesc> FillShape(const ShapeContext& c) {
  const auto& a = c.attr<FillAttrs>();
  return {{a.dtype, a.shape, {}}};
}

std::vector<TensorDesc> VariableShape(const ShapeContext& c) {
  const auto& a = c.attr<VariableAttrs>();
  return {{a.dtype, a.shape, {}}};
}

std::vector<TensorDesc> AssignShape(const ShapeContext& c) {
  if (c.dtype(0) != c.dtype(1))
    throw InvalidArgument(
        fmt::format("the variable is {}, the value {}", DTypeName(c.dtype(0)), DTypeName(c.dtype(1))));
  if (!(c.shape(0) == c.shape(1)))
    throw InvalidArgument(
        fmt::format("the variable has shape {}, the value {}", c.shape(0).ToString(), c.shape(1).ToString()));
  return {c.inputs[0]};
}

std::vector<TensorDesc> Nothing(const ShapeContext&) { return {}; }

std::vector<Output> PassThrough(const GradientContext& c) { return {c.dy[0]}; }

std::vector<TensorDesc> CollectiveShape(const ShapeContext& c) {
  const auto& a = c.attr<CollectiveAttrs>();
  if (a.rank < 0 || a.rank >= a.size) throw InvalidArgument(fmt::format("rank {} is not one of {}", a.rank, a.size));
  return {c.inputs[0]};
}

// Every output depends on every input alike.
std::vector<Output> CollectiveGradient(const GradientContext& c) {
  CollectiveAttrs a = c.attr<CollectiveAttrs>();
  a.instance += "/grad";
  return {c.scope.AddOp(OpKind::kCollectiveReduce, {c.dy[0]}, std::move(a))};
}

constexpr OpDef Stateful(OpDef op) {
  op.is_stateful = true;
  return op;
}
constexpr OpDef Alias(OpKind kind, GradientRule gradient) {
  return {.kind = kind,
          .min_inputs = 1,
          .max_inputs = 1,
          .shape_rule = SameAsInput,
          .gradient = gradient,
          .is_alias = true};
}
constexpr OpDef Assignment(OpKind kind) {
  return {
      .kind = kind, .min_inputs = 2, .max_inputs = 2, .shape_rule = AssignShape, .num_refs = 1, .is_stateful = true};
}

constexpr OpDef kStateOps[] = {
    Stateful({OpKind::kPlaceholder, 0, 0, PlaceholderShape, NoGradient}),
    {OpKind::kConst, 0, 0, ConstShape, NoGradient},
    {OpKind::kFill, 0, 0, FillShape, NoGradient},
    Stateful({OpKind::kVariable, 0, 0, VariableShape, NoGradient}),
    Assignment(OpKind::kAssign),
    Assignment(OpKind::kAssignAdd),
    Assignment(OpKind::kAssignSub),
    Alias(OpKind::kIdentity, PassThrough),
    Alias(OpKind::kStopGradient, NoGradient),
    Stateful({OpKind::kCollectiveReduce, 1, 1, CollectiveShape, CollectiveGradient}),
    Stateful({OpKind::kNoOp, 0, 0, Nothing, NoGradient}),
};

template <typename T>
Tensor ScalarTensor(double value) {
  return Tensor::Scalar<T>(static_cast<T>(value));
}

}  // namespace

std::span<const OpDef> StateOps() { return kStateOps; }

namespace ops {

Output Placeholder(const Scope& scope, DType dtype, const Shape& shape) {
  return scope.AddOp(OpKind::kPlaceholder, {}, PlaceholderAttrs{dtype, shape});
}

Output Const(const Scope& scope, Tensor value) { return scope.AddOp(OpKind::kConst, {}, ConstAttrs{std::move(value)}); }

Output ScalarLike(const Scope& scope, double value, DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return Const(scope, ScalarTensor<float>(value));
    case DType::kFloat64: return Const(scope, ScalarTensor<double>(value));
    case DType::kInt32: return Const(scope, ScalarTensor<int32_t>(value));
    case DType::kInt64: return Const(scope, ScalarTensor<int64_t>(value));
    case DType::kFloat16: return Const(scope, Tensor::Scalar<Float16>(Convert<Float16>(value)));
    case DType::kBFloat16: return Const(scope, Tensor::Scalar<BFloat16>(Convert<BFloat16>(value)));
    default: throw InvalidArgument(fmt::format("no scalar constants of type {}", DTypeName(dtype)));
  }
}

Output Fill(const Scope& scope, DType dtype, const Shape& shape, double value) {
  return scope.AddOp(OpKind::kFill, {}, FillAttrs{dtype, shape, value});
}

Variable MakeVariable(const Scope& scope, std::string_view name, Output initial, bool trainable) {
  Graph* graph = scope.graph();
  const TensorDesc desc = graph->desc(initial);
  Variable variable;
  variable.ref = {scope.AddVariableNode(name, desc.dtype, desc.shape), 0};
  const std::string full_name = graph->node(variable.ref.node).name;
  Node assign;
  assign.kind = OpKind::kAssign;
  assign.name = graph->UniqueName(full_name + "/Assign");
  assign.inputs = {variable.ref, initial};
  assign.colocate_with = {full_name};
  variable.initializer = graph->Add(std::move(assign));
  graph->AddVariable({variable.ref, variable.initializer, trainable, full_name});
  return variable;
}

Output Assign(const Scope& scope, Output ref, Output value) { return scope.AddOp(OpKind::kAssign, {ref, value}); }
Output AssignAdd(const Scope& scope, Output ref, Output value) { return scope.AddOp(OpKind::kAssignAdd, {ref, value}); }
Output AssignSub(const Scope& scope, Output ref, Output value) { return scope.AddOp(OpKind::kAssignSub, {ref, value}); }
Output Identity(const Scope& scope, Output x) { return scope.AddOp(OpKind::kIdentity, {x}); }
Output CollectiveReduce(const Scope& scope, Output x, std::string instance, int size, int rank, double scale) {
  return scope.AddOp(OpKind::kCollectiveReduce, {x}, CollectiveAttrs{std::move(instance), size, rank, scale});
}
Output StopGradient(const Scope& scope, Output x) { return scope.AddOp(OpKind::kStopGradient, {x}); }
NodeId NoOp(const Scope& scope) { return scope.AddNode(OpKind::kNoOp, {}); }
NodeId Group(const Scope& scope, const std::vector<NodeId>& nodes) {
  return NoOp(scope.WithControlDependencies(nodes));
}

}  // namespace ops
}  // namespace muster
