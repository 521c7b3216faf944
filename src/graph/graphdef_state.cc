// GraphDef form of constants, variables, updates, random numbers.
#include "graph/graphdef_writer.h"

namespace muster {
namespace {

std::vector<int64_t> Dims(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

void WriteVariable(GraphDefWriter& w) {
  const auto& a = w.attr<VariableAttrs>();
  w.Op("VariableV2");
  w.Type("dtype", a.dtype);
  w.ShapeAttr("shape", a.shape);
  w.String("container", "");
  w.String("shared_name", "");
}

void WriteFill(GraphDefWriter& w) {
  const auto& a = w.attr<FillAttrs>();
  w.Op("Fill");
  w.ConstInput("dims", Dims(a.shape));
  w.ScalarInput("value", a.value, a.dtype);
  w.Type("T", a.dtype);
  w.IndexType("index_type");
}

void WriteAssign(GraphDefWriter& w) {
  w.Op(OpName(w.node().kind));
  w.AllInputs();
  w.Type("T", w.input_type(0));
  w.Bool("use_locking", true);
  if (w.node().kind == OpKind::kAssign) w.Bool("validate_shape", true);
}

void WriteApply(GraphDefWriter& w) {
  w.Op(OpName(w.node().kind));
  w.AllInputs();
  w.Type("T", w.input_type(0));
  w.Bool("use_locking", true);
  const OpKind kind = w.node().kind;
  if (kind == OpKind::kApplyMomentum || kind == OpKind::kApplyAdam)
    w.Bool("use_nesterov", w.attr<ApplyAttrs>().use_nesterov);
}

void WriteRandom(GraphDefWriter& w) {
  const auto& a = w.attr<RandomAttrs>();
  const bool is_int = w.node().kind == OpKind::kRandomUniformInt;
  w.Op(OpName(w.node().kind));
  w.ConstInput("shape", Dims(a.shape));
  if (is_int) {
    w.ScalarInput("min", static_cast<double>(a.minval), a.dtype);
    w.ScalarInput("max", static_cast<double>(a.maxval), a.dtype);
  }
  w.Type(is_int ? "Tout" : "dtype", a.dtype);
  w.IndexType("T");
  w.Int("seed", w.graph_seed());
  w.Int("seed2", a.seed);
}

}  // namespace

bool WriteStateOp(GraphDefWriter& w) {
  switch (w.node().kind) {
    case OpKind::kPlaceholder:
      w.Op("Placeholder");
      w.Type("dtype", w.attr<PlaceholderAttrs>().dtype);
      w.ShapeAttr("shape", w.attr<PlaceholderAttrs>().shape);
      return true;
    case OpKind::kConst:
      w.Op("Const");
      w.Type("dtype", w.attr<ConstAttrs>().value.dtype());
      w.TensorAttr("value", w.attr<ConstAttrs>().value);
      return true;
    case OpKind::kFill: WriteFill(w); return true;
    case OpKind::kVariable: WriteVariable(w); return true;
    case OpKind::kAssign:
    case OpKind::kAssignAdd:
    case OpKind::kAssignSub: WriteAssign(w); return true;
    case OpKind::kCollectiveReduce: return WriteCompilerOp(w);  // TensorFlow's takes numbers for names
    case OpKind::kRandomUniform:
    case OpKind::kRandomUniformInt:
    case OpKind::kRandomStandardNormal:
    case OpKind::kTruncatedNormal: WriteRandom(w); return true;
    default: break;
  }
  if (OpName(w.node().kind).substr(0, 5) != "Apply") return false;
  WriteApply(w);
  return true;
}

}  // namespace muster
