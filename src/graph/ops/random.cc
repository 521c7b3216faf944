// Random operations: table, shape rules and muster/ops/random.h. How a number is made is in base/random_stream.h.

#include "muster/ops/random.h"

#include <fmt/format.h>

#include "graph/op_def.h"
#include "graph/ops/gradient_rules.h"

namespace muster {
namespace {

std::vector<TensorDesc> RandomFloatShape(const ShapeContext& c) {
  const auto& a = c.attr<RandomAttrs>();
  if (!IsFloating(a.dtype))
    throw InvalidArgument(fmt::format("draws floating-point numbers, not {}", DTypeName(a.dtype)));
  return {{a.dtype, a.shape, {}}};
}

std::vector<TensorDesc> IntShape(const ShapeContext& c) {
  const auto& a = c.attr<RandomAttrs>();
  if (a.dtype != DType::kInt32 && a.dtype != DType::kInt64)
    throw InvalidArgument(fmt::format("draws int32 or int64, not {}", DTypeName(a.dtype)));
  if (a.minval >= a.maxval)
    throw InvalidArgument(fmt::format("minval {} must be less than maxval {}", a.minval, a.maxval));
  if (a.dtype == DType::kInt32 && (a.minval < INT32_MIN || a.maxval > int64_t{INT32_MAX} + 1))
    throw InvalidArgument(fmt::format("int32 does not hold all of [{}, {})", a.minval, a.maxval));
  return {{a.dtype, a.shape, {}}};
}

constexpr OpDef Row(OpKind kind, ShapeRule shape_rule) {
  return {.kind = kind,
          .min_inputs = 0,
          .max_inputs = 0,
          .shape_rule = shape_rule,
          .gradient = NoGradient,
          .is_stateful = true};
}

constexpr OpDef kRandomOps[] = {
    Row(OpKind::kRandomUniform, RandomFloatShape),
    Row(OpKind::kRandomUniformInt, IntShape),
    Row(OpKind::kRandomStandardNormal, RandomFloatShape),
    Row(OpKind::kTruncatedNormal, RandomFloatShape),
};

}  // namespace

std::span<const OpDef> RandomOps() { return kRandomOps; }

namespace ops {

Output RandomUniform(const Scope& scope, DType dtype, const Shape& shape, int64_t seed) {
  return scope.AddOp(OpKind::kRandomUniform, {}, RandomAttrs{.dtype = dtype, .shape = shape, .seed = seed});
}
Output RandomUniformInt(const Scope& scope, DType dtype, const Shape& shape, int64_t minval, int64_t maxval,
                        int64_t seed) {
  return scope.AddOp(OpKind::kRandomUniformInt, {}, RandomAttrs{dtype, shape, seed, minval, maxval});
}
Output RandomStandardNormal(const Scope& scope, DType dtype, const Shape& shape, int64_t seed) {
  return scope.AddOp(OpKind::kRandomStandardNormal, {}, RandomAttrs{.dtype = dtype, .shape = shape, .seed = seed});
}
Output TruncatedNormal(const Scope& scope, DType dtype, const Shape& shape, int64_t seed) {
  return scope.AddOp(OpKind::kTruncatedNormal, {}, RandomAttrs{.dtype = dtype, .shape = shape, .seed = seed});
}

}  // namespace ops
}  // namespace muster
