#include "tests/backend/cpu_vs_reference/op_cases.h"

namespace muster::testing {
namespace {

void AddJoinCases(OpCases* cases) {
  for (int axis = 0; axis < 4; ++axis) {
    const Shape shape{2, 3, 4, 5};
    const Tensor x = Random(shape), wide = Random(shape.With(axis, 7)), thin = Random(shape.With(axis, 1));
    Add(cases, OpKind::kConcat, AxisAttrs{axis}, {x, wide, thin});
    Add(cases, OpKind::kPack, AxisAttrs{axis}, {x, Random(shape), Random(shape)});
    Add(cases, OpKind::kSplit, SplitAttrs{axis, {2, 1, 4}}, {wide});
  }
  Add(cases, OpKind::kConcat, AxisAttrs{3}, {Random({2, 8, 8, 64}), Random({2, 8, 8, 96}), Random({2, 8, 8, 17})});
  Add(cases, OpKind::kConcat, AxisAttrs{0}, {Random({3, 2})});
  Add(cases, OpKind::kSplit, SplitAttrs{3, {64, 96, 17}}, {Random({2, 8, 8, 177})});
}

void AddPadCases(OpCases* cases) {
  const Tensor x = Random({2, 4, 5, 3});
  const std::vector<std::pair<int64_t, int64_t>> edges{{0, 0}, {1, 2}, {2, 1}, {0, 0}},
      channels{{0, 0}, {0, 0}, {0, 0}, {2, 3}};
  Add(cases, OpKind::kPad, PadAttrs{edges, PadMode::kConstant, 0}, {x});
  Add(cases, OpKind::kPad, PadAttrs{channels, PadMode::kConstant, 1.5}, {x});
  Add(cases, OpKind::kPad, PadAttrs{{{1, 0}, {0, 3}}, PadMode::kConstant, 0}, {Random({30, 70})});
  for (PadMode mode : {PadMode::kReflect, PadMode::kSymmetric}) {
    Add(cases, OpKind::kPad, PadAttrs{edges, mode, 0}, {x});
    Add(cases, OpKind::kMirrorPadGrad, PadAttrs{edges, mode, 0}, {Random({2, 7, 8, 3})});
  }
}

}  // namespace

void AddArrayCases(OpCases* cases) {
  const Tensor x = Random({2, 3, 4, 5});
  for (const std::vector<int>& perm :
       {std::vector<int>{0, 2, 3, 1}, {0, 3, 1, 2}, {3, 2, 1, 0}, {0, 1, 2, 3}, {1, 0, 3, 2}})
    Add(cases, OpKind::kTranspose, TransposeAttrs{perm}, {x});
  Add(cases, OpKind::kTranspose, TransposeAttrs{{1, 0}}, {Random({100, 130})});
  Add(cases, OpKind::kTranspose, TransposeAttrs{{0, 2, 3, 1}}, {Random({2, 33, 14, 14})});
  Add(cases, OpKind::kReshape, ShapeAttrs{{6, 20}}, {x});
  Add(cases, OpKind::kExpandDims, AxisAttrs{1}, {x});
  Add(cases, OpKind::kSqueeze, SqueezeAttrs{{0, 2}}, {Random({1, 3, 1, 4})});
  Add(cases, OpKind::kSlice, SliceAttrs{{0, 1, 0, 2}, {2, 2, 3, 3}}, {x});
  Add(cases, OpKind::kSlice, SliceAttrs{{10, 0}, {50, 64}}, {Random({100, 64})});
  Add(cases, OpKind::kTile, TileAttrs{{1, 2, 3, 1}}, {x});
  Add(cases, OpKind::kTile, TileAttrs{{2, 2}}, {Random({3, 50})});
  Add(cases, OpKind::kBroadcastTo, ShapeAttrs{{2, 3, 4, 5}}, {Random({3, 1, 5})});
  Add(cases, OpKind::kBroadcastTo, ShapeAttrs{{40, 70}}, {Random({})});
  Add(cases, OpKind::kBroadcastTo, ShapeAttrs{{40, 70}}, {Random({40, 1})});
  for (DType dtype : {DType::kInt32, DType::kInt64})
    Add(cases, OpKind::kOneHot, OneHotAttrs{9, 0.75, 0.25}, {RandomIndices(dtype, {7, 3}, 11)});
  AddJoinCases(cases);
  AddPadCases(cases);
}

void AddReductionCases(OpCases* cases) {
  const Shape shape{3, 4, 5, 6};
  for (OpKind kind : {OpKind::kSum, OpKind::kMean, OpKind::kMax, OpKind::kMin}) {
    for (const std::vector<int>& axes : {std::vector<int>{}, {0}, {3}, {1, 2}, {0, 1, 2}, {0, 2}, {0, 1, 2, 3}})
      for (bool keep : {false, true}) Add(cases, kind, ReduceAttrs{axes, keep}, {Random(shape)});
    Add(cases, kind, ReduceAttrs{{0}, false}, {Random({300, 33})});
    Add(cases, kind, ReduceAttrs{{1}, false}, {Random({33, 300})});
    Add(cases, kind, ReduceAttrs{{1, 2}, false}, {Random({4, 7, 7, 64})});
    Add(cases, kind, ReduceAttrs{{0}, false}, {Random({70000})});
    Add(cases, kind, ReduceAttrs{{}, false}, {Random({})});
  }
  for (int axis = 0; axis < 4; ++axis) Add(cases, OpKind::kArgMax, AxisAttrs{axis}, {RandomHalves(shape)});
  for (int k : {1, 3, 10}) {
    Add(cases, OpKind::kTopK, TopKAttrs{k}, {RandomHalves({7, 10})});
    Add(cases, OpKind::kInTopK, TopKAttrs{k}, {RandomHalves({20, 10}), RandomIndices(DType::kInt32, {20}, 12)});
  }
  for (const Shape& s : {Shape{}, Shape{1}, Shape{7, 9}, Shape{300, 333}})
    Add(cases, OpKind::kL2Loss, NoAttrs{}, {Random(s)});
}

}  // namespace muster::testing
