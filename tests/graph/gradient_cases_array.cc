// Arrays and reductions.

#include "muster/ops.h"
#include "tests/graph/gradient_cases.h"

namespace muster::testing {
namespace {

using Outputs = std::vector<Output>;
using Paddings = std::vector<std::pair<int64_t, int64_t>>;
using ReduceOp = Output (*)(const Scope&, Output, std::vector<int>, bool);

void AddPads(std::vector<GradientCase>& cases) {
  const auto pad = [](PadMode mode) {
    return [mode](const Scope& s, const Outputs& x) {
      return Outputs{ops::Pad(s, x[0], Paddings{{1, 0}, {0, 2}, {2, 1}}, mode, 3.0)};
    };
  };
  cases.push_back({OpKind::kPad, "constant", {{2, 3, 4}}, pad(PadMode::kConstant)});
  cases.push_back({OpKind::kPad, "reflect", {{2, 3, 4}}, pad(PadMode::kReflect)});
  cases.push_back({OpKind::kPad, "symmetric", {{2, 3, 4}}, pad(PadMode::kSymmetric)});
  cases.push_back({OpKind::kPad, "nothing", {{2, 3}}, [](const Scope& s, const Outputs& x) {
                     return Outputs{ops::Pad(s, x[0], Paddings{{0, 0}, {0, 0}})};
                   }});
  for (PadMode mode : {PadMode::kReflect, PadMode::kSymmetric})
    cases.push_back({OpKind::kMirrorPadGrad,
                     mode == PadMode::kReflect ? "reflect" : "symmetric",
                     {{4, 6}},
                     [mode](const Scope& s, const Outputs& x) {
                       return Outputs{s.AddOp(OpKind::kMirrorPadGrad, {x[0]}, PadAttrs{{{1, 1}, {2, 1}}, mode})};
                     }});
}

void AddReductions(std::vector<GradientCase>& cases, OpKind kind, ReduceOp op) {
  struct Axes {
    const char* name;
    std::vector<int> axes;
  };
  for (const Axes& a :
       {Axes{"all", {}}, Axes{"first", {0}}, Axes{"middle", {1}}, Axes{"last", {-1}}, Axes{"outer", {0, 2}}})
    for (bool keep_dims : {false, true})
      cases.push_back(
          {kind,
           std::string(a.name) + (keep_dims ? "_kept" : ""),
           {{2, 3, 4}},
           [=, axes = a.axes](const Scope& s, const Outputs& x) { return Outputs{op(s, x[0], axes, keep_dims)}; }});
  cases.push_back(
      {kind, "ones", {{2, 1, 3}}, [=](const Scope& s, const Outputs& x) { return Outputs{op(s, x[0], {1}, false)}; }});
  cases.push_back(
      {kind, "scalar", {{}}, [=](const Scope& s, const Outputs& x) { return Outputs{op(s, x[0], {}, false)}; }});
}

void AddJoins(std::vector<GradientCase>& cases) {
  // Both terms of one sum: each input is in both outputs.
  cases.push_back({OpKind::kCollectiveReduce, "two", {{2, 3}, {2, 3}}, [](const Scope& s, const Outputs& x) {
                     return Outputs{ops::CollectiveReduce(s, x[0], "mean", 2, 0, 0.5),
                                    ops::CollectiveReduce(s, x[1], "mean", 2, 1, 0.5)};
                   }});
  cases.push_back({OpKind::kConcat, "middle", {{2, 1, 3}, {2, 2, 3}, {2, 3, 3}}, [](const Scope& s, const Outputs& x) {
                     return Outputs{ops::Concat(s, x, 1)};
                   }});
  cases.push_back({OpKind::kConcat, "one", {{2, 3}}, [](const Scope& s, const Outputs& x) {
                     return Outputs{ops::Concat(s, x, -1)};
                   }});
  cases.push_back(
      {OpKind::kSplit, "even", {{2, 6}}, [](const Scope& s, const Outputs& x) { return ops::Split(s, x[0], 1, 3); }});
  cases.push_back({OpKind::kSplit, "sizes", {{5, 2}}, [](const Scope& s, const Outputs& x) {
                     return ops::SplitV(s, x[0], 0, {1, 4});
                   }});
  cases.push_back({OpKind::kSplit, "unused_piece", {{2, 6}}, [](const Scope& s, const Outputs& x) {
                     return Outputs{ops::Split(s, x[0], 1, 3)[1]};
                   }});
  cases.push_back({OpKind::kPack, "first", {{2, 3}, {2, 3}}, [](const Scope& s, const Outputs& x) {
                     return Outputs{ops::Pack(s, x)};
                   }});
  cases.push_back({OpKind::kPack, "last", {{2, 3}, {2, 3}}, [](const Scope& s, const Outputs& x) {
                     return Outputs{ops::Pack(s, x, -1)};
                   }});
}

void AddMoves(std::vector<GradientCase>& cases) {
  const auto add = [&](OpKind kind, const char* name, const Shape& shape, auto op) {
    cases.push_back({kind, name, {shape}, [op](const Scope& s, const Outputs& x) { return Outputs{op(s, x[0])}; }});
  };
  add(OpKind::kReshape, "flat", {2, 3}, [](const Scope& s, Output x) { return ops::Reshape(s, x, {-1}); });
  add(OpKind::kExpandDims, "last", {2, 3}, [](const Scope& s, Output x) { return ops::ExpandDims(s, x, -1); });
  add(OpKind::kSqueeze, "all", {1, 3, 1}, [](const Scope& s, Output x) { return ops::Squeeze(s, x); });
  add(OpKind::kTranspose, "cycle", {2, 3, 4}, [](const Scope& s, Output x) { return ops::Transpose(s, x, {2, 0, 1}); });
  add(OpKind::kSlice, "inside", {4, 5}, [](const Scope& s, Output x) { return ops::Slice(s, x, {1, 2}, {2, -1}); });
  add(OpKind::kSlice, "whole", {4, 5}, [](const Scope& s, Output x) { return ops::Slice(s, x, {0, 0}, {4, 5}); });
  add(OpKind::kTile, "both", {2, 3}, [](const Scope& s, Output x) { return ops::Tile(s, x, {2, 3}); });
  add(OpKind::kTile, "one_axis", {2, 3, 2}, [](const Scope& s, Output x) { return ops::Tile(s, x, {1, 2, 1}); });
  add(OpKind::kTile, "once", {2, 3}, [](const Scope& s, Output x) { return ops::Tile(s, x, {1, 1}); });
  add(OpKind::kBroadcastTo, "rows", {3, 1}, [](const Scope& s, Output x) { return ops::BroadcastTo(s, x, {2, 3, 4}); });
  add(OpKind::kTopK, "values", {3, 5}, [](const Scope& s, Output x) { return ops::TopK(s, x, 2); });
  add(OpKind::kL2Loss, "plain", {3, 5}, [](const Scope& s, Output x) { return ops::L2Loss(s, x); });
}

}  // namespace

std::vector<GradientCase> ArrayGradientCases() {
  std::vector<GradientCase> cases;
  AddMoves(cases);
  AddPads(cases);
  AddJoins(cases);
  AddReductions(cases, OpKind::kSum, ops::Sum);
  AddReductions(cases, OpKind::kMean, ops::Mean);
  AddReductions(cases, OpKind::kMax, ops::Max);
  AddReductions(cases, OpKind::kMin, ops::Min);
  return cases;
}

}  // namespace muster::testing
