// GraphDef form of arithmetic, reductions, searches and losses.
#include "graph/graphdef_writer.h"

namespace muster {
namespace {

void WriteReduction(GraphDefWriter& w) {
  const auto& a = w.attr<ReduceAttrs>();
  w.Op(OpName(w.node().kind));
  w.Input(0);
  w.ConstInput("reduction_indices", {a.axes.begin(), a.axes.end()});
  w.Bool("keep_dims", a.keep_dims);
  w.Type("T", w.input_type(0));
  w.IndexType("Tidx");
}

void WriteArgMax(GraphDefWriter& w) {
  w.Op("ArgMax");
  w.Input(0);
  w.ScalarInput("dimension", int64_t{w.attr<AxisAttrs>().axis});
  w.Type("T", w.input_type(0));
  w.IndexType("Tidx");
  w.Type("output_type", w.node().outputs[0].dtype);
}

void WriteTopK(GraphDefWriter& w) {
  w.Op("TopKV2");
  w.Input(0);
  w.ScalarInput("k", int64_t{w.attr<TopKAttrs>().k});
  w.Bool("sorted", true);
  w.Type("T", w.input_type(0));
}

void WriteMatMul(GraphDefWriter& w) {
  const auto& a = w.attr<MatMulAttrs>();
  w.Op("MatMul");
  w.AllInputs();
  w.Bool("transpose_a", a.transpose_a);
  w.Bool("transpose_b", a.transpose_b);
  w.Type("T", w.input_type(0));
}

void WriteCast(GraphDefWriter& w) {
  w.Op("Cast");
  w.AllInputs();
  w.Type("SrcT", w.input_type(0));
  w.Type("DstT", w.attr<CastAttrs>().to);
  w.Bool("Truncate", false);
}

// All inputs, and the type of input "typed" as T.
void WritePlain(GraphDefWriter& w, int typed) {
  w.Op(OpName(w.node().kind));
  w.AllInputs();
  w.Type("T", w.input_type(typed));
}

void WriteWithoutType(GraphDefWriter& w) {
  w.Op(OpName(w.node().kind));
  w.AllInputs();
}

}  // namespace

bool WriteMathOp(GraphDefWriter& w) {
  switch (w.node().kind) {
    case OpKind::kSum:
    case OpKind::kMean:
    case OpKind::kMax:
    case OpKind::kMin: WriteReduction(w); return true;
    case OpKind::kArgMax: WriteArgMax(w); return true;
    case OpKind::kTopK: WriteTopK(w); return true;
    case OpKind::kMatMul: WriteMatMul(w); return true;
    case OpKind::kCast: WriteCast(w); return true;
    case OpKind::kNoOp:
    case OpKind::kLogicalAnd:
    case OpKind::kLogicalOr:
    case OpKind::kLogicalNot: WriteWithoutType(w); return true;
    case OpKind::kSelect: WritePlain(w, 1); return true;
    case OpKind::kInTopK:
      WritePlain(w, 1);
      w.Int("k", w.attr<TopKAttrs>().k);
      return true;
    case OpKind::kAddN:
      WritePlain(w, 0);
      w.Int("N", static_cast<int64_t>(w.node().inputs.size()));
      return true;
    case OpKind::kSparseSoftmaxCrossEntropyWithLogits:
      WritePlain(w, 0);
      w.Type("Tlabels", w.input_type(1));
      return true;
    default: break;
  }
  // Element-wise operations and the rest are the same in both, once those with attributes of their own are dealt with.
  if (w.node().attrs.get_if<NoAttrs>() == nullptr || w.node().inputs.empty()) return false;
  if (OpName(w.node().kind).front() == '_') return false;
  WritePlain(w, 0);
  return true;
}

}  // namespace muster
