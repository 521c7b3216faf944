// GraphDef form of operations that move elements: shapes, axes and paddings are attributes here and inputs there.
#include "graph/graphdef_writer.h"

namespace muster {
namespace {

std::vector<int64_t> Dims(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

// "op" with the node's input, one constant behind it and the types of both.
void WriteWithConst(GraphDefWriter& w, const char* op, const char* suffix, const std::vector<int64_t>& values,
                    const char* index_type) {
  w.Op(op);
  w.Input(0);
  w.ConstInput(suffix, values);
  w.Type("T", w.input_type(0));
  w.IndexType(index_type);
}

void WriteConcat(GraphDefWriter& w) {
  w.Op("ConcatV2");
  w.AllInputs();
  w.ScalarInput("axis", int64_t{w.attr<AxisAttrs>().axis});
  w.Int("N", static_cast<int64_t>(w.node().inputs.size()));
  w.Type("T", w.input_type(0));
  w.IndexType("Tidx");
}

void WriteSplit(GraphDefWriter& w) {
  const auto& a = w.attr<SplitAttrs>();
  w.Op("SplitV");
  w.Input(0);
  w.ConstInput("size_splits", a.sizes);
  w.ScalarInput("split_dim", int64_t{a.axis});
  w.Int("num_split", static_cast<int64_t>(a.sizes.size()));
  w.Type("T", w.input_type(0));
  w.IndexType("Tlen");
}

void WriteSlice(GraphDefWriter& w) {
  const auto& a = w.attr<SliceAttrs>();
  w.Op("Slice");
  w.Input(0);
  w.ConstInput("begin", a.begin);
  w.ConstInput("size", a.size);
  w.Type("T", w.input_type(0));
  w.IndexType("Index");
}

// TensorFlow has an operation each for zeros, another constant, and mirroring.
void WritePad(GraphDefWriter& w) {
  const auto& a = w.attr<PadAttrs>();
  const bool is_gradient = w.node().kind == OpKind::kMirrorPadGrad;
  const bool mirrors = a.mode != PadMode::kConstant;
  w.Op(is_gradient ? "MirrorPadGrad" : mirrors ? "MirrorPad" : a.constant != 0 ? "PadV2" : "Pad");
  w.Input(0);
  w.MatrixInput("paddings", a.paddings);
  if (!mirrors && a.constant != 0) w.ScalarInput("constant_values", a.constant, w.input_type(0));
  if (mirrors) w.String("mode", a.mode == PadMode::kReflect ? "REFLECT" : "SYMMETRIC");
  w.Type("T", w.input_type(0));
  w.IndexType("Tpaddings");
}

void WriteOneHot(GraphDefWriter& w) {
  const auto& a = w.attr<OneHotAttrs>();
  w.Op("OneHot");
  w.Input(0);
  w.ScalarInput("depth", a.depth);
  w.ScalarInput("on_value", a.on_value, a.dtype);
  w.ScalarInput("off_value", a.off_value, a.dtype);
  w.Int("axis", -1);
  w.Type("T", a.dtype);
  w.Type("TI", w.input_type(0));
}

void WriteSqueeze(GraphDefWriter& w) {
  const auto& axes = w.attr<SqueezeAttrs>().axes;
  w.Op("Squeeze");
  w.Input(0);
  w.Type("T", w.input_type(0));
  w.Ints("squeeze_dims", {axes.begin(), axes.end()});
}

void WritePack(GraphDefWriter& w) {
  w.Op("Pack");
  w.AllInputs();
  w.Int("N", static_cast<int64_t>(w.node().inputs.size()));
  w.Int("axis", w.attr<AxisAttrs>().axis);
  w.Type("T", w.input_type(0));
}

void WriteExpandDims(GraphDefWriter& w) {
  w.Op("ExpandDims");
  w.Input(0);
  w.ScalarInput("dim", int64_t{w.attr<AxisAttrs>().axis});
  w.Type("T", w.input_type(0));
  w.IndexType("Tdim");
}

}  // namespace

bool WriteArrayOp(GraphDefWriter& w) {
  switch (w.node().kind) {
    case OpKind::kReshape:
      WriteWithConst(w, "Reshape", "shape", Dims(w.attr<ShapeAttrs>().shape), "Tshape");
      return true;
    case OpKind::kBroadcastTo:
      WriteWithConst(w, "BroadcastTo", "shape", Dims(w.attr<ShapeAttrs>().shape), "Tidx");
      return true;
    case OpKind::kTranspose: {
      const auto& perm = w.attr<TransposeAttrs>().perm;
      WriteWithConst(w, "Transpose", "perm", {perm.begin(), perm.end()}, "Tperm");
      return true;
    }
    case OpKind::kTile:
      WriteWithConst(w, "Tile", "multiples", w.attr<TileAttrs>().multiples, "Tmultiples");
      return true;
    case OpKind::kExpandDims: WriteExpandDims(w); return true;
    case OpKind::kSqueeze: WriteSqueeze(w); return true;
    case OpKind::kConcat: WriteConcat(w); return true;
    case OpKind::kSplit: WriteSplit(w); return true;
    case OpKind::kSlice: WriteSlice(w); return true;
    case OpKind::kPad:
    case OpKind::kMirrorPadGrad: WritePad(w); return true;
    case OpKind::kPack: WritePack(w); return true;
    case OpKind::kOneHot: WriteOneHot(w); return true;
    case OpKind::kBucket:
    case OpKind::kUnbucket: return WriteCompilerOp(w);  // TensorFlow has none like them
    default: return false;
  }
}

}  // namespace muster
