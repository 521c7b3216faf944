// Operations that move, reduce and search: small cases written out, every type that moves.
#include <cmath>
#include <limits>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/reference/reference_table.h"
#include "tests/backend/testing/run_op.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::RunOp;
using testing::ToDoubles;

using Values = std::vector<double>;
constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
                            DType::kInt32,   DType::kInt64,   DType::kUInt8,   DType::kBool};

// 0, 1, 2, … (bool: 0, 1, 1, …).
Tensor Counting(const Shape& shape, DType dtype = DType::kInt32) {
  std::vector<double> values(static_cast<size_t>(shape.num_elements()));
  std::iota(values.begin(), values.end(), 0);
  return testing::Converted(Tensor::Of<double>(shape, values), dtype);
}

Values Result(OpKind kind, const Attrs& attrs, const std::vector<Tensor>& inputs) {
  return ToDoubles(RunOp(ReferenceTable(), {kind, attrs, inputs})[0]);
}

// What the elements of Counting become for a type.
Values As(DType dtype, Values v) {
  if (dtype == DType::kBool)
    for (double& x : v) x = x != 0;
  return v;
}

TEST(ReferenceArray, EveryTypeMoves) {
  for (DType dtype : kTypes) {
    const Tensor x = Counting({2, 3}, dtype);
    const auto expect = [&](OpKind kind, const Attrs& attrs, const std::vector<Tensor>& inputs, Values expected) {
      EXPECT_THAT(Result(kind, attrs, inputs), ElementsAreArray(As(dtype, expected)))
          << OpName(kind) << " " << DTypeName(dtype);
    };
    expect(OpKind::kReshape, ShapeAttrs{{3, 2}}, {x}, {0, 1, 2, 3, 4, 5});
    expect(OpKind::kExpandDims, AxisAttrs{0}, {x}, {0, 1, 2, 3, 4, 5});
    expect(OpKind::kTranspose, TransposeAttrs{{1, 0}}, {x}, {0, 3, 1, 4, 2, 5});
    expect(OpKind::kConcat, AxisAttrs{1}, {x, Counting({2, 1}, dtype)}, {0, 1, 2, 0, 3, 4, 5, 1});
    expect(OpKind::kPack, AxisAttrs{1}, {x, x}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
    expect(OpKind::kSlice, SliceAttrs{{0, 1}, {2, 2}}, {x}, {1, 2, 4, 5});
    expect(OpKind::kTile, TileAttrs{{1, 2}}, {x}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
    expect(OpKind::kBroadcastTo, ShapeAttrs{{2, 3}}, {Counting({3}, dtype)}, {0, 1, 2, 0, 1, 2});
    expect(OpKind::kPad, PadAttrs{{{0, 1}, {1, 0}}, PadMode::kConstant, 1}, {x}, {1, 0, 1, 2, 1, 3, 4, 5, 1, 1, 1, 1});
  }
}

TEST(ReferenceArray, SplitCutsAlongItsAxis) {
  const auto pieces = RunOp(ReferenceTable(), {OpKind::kSplit, SplitAttrs{1, {1, 0, 2}}, {Counting({2, 3})}});
  EXPECT_THAT(ToDoubles(pieces[0]), ElementsAre(0, 3));
  EXPECT_THAT(ToDoubles(pieces[1]), ElementsAre());
  EXPECT_THAT(ToDoubles(pieces[2]), ElementsAre(1, 2, 4, 5));
}

TEST(ReferenceArray, MirrorsIncludeTheEdgeOnlyWhenSymmetric) {
  const Tensor x = Counting({3});
  EXPECT_THAT(Result(OpKind::kPad, PadAttrs{{{2, 1}}, PadMode::kReflect}, {x}), ElementsAre(2, 1, 0, 1, 2, 1));
  EXPECT_THAT(Result(OpKind::kPad, PadAttrs{{{2, 1}}, PadMode::kSymmetric}, {x}), ElementsAre(1, 0, 0, 1, 2, 2));
}

TEST(ReferenceArray, MirrorPadGradAddsUpWhatWasMirrored) {
  const Tensor dy = Counting({6}, DType::kFloat32);
  EXPECT_THAT(Result(OpKind::kMirrorPadGrad, PadAttrs{{{2, 1}}, PadMode::kReflect}, {dy}),
              ElementsAre(2, 1 + 3 + 5, 0 + 4));
  EXPECT_THAT(Result(OpKind::kMirrorPadGrad, PadAttrs{{{2, 1}}, PadMode::kSymmetric}, {dy}),
              ElementsAre(1 + 2, 0 + 3, 4 + 5));
}

TEST(ReferenceArray, TransposeOfThreeAxes) {
  EXPECT_THAT(Result(OpKind::kTranspose, TransposeAttrs{{2, 0, 1}}, {Counting({2, 2, 3})}),
              ElementsAre(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11));
}

TEST(ReferenceArray, OneHotLeavesRowsOfBadIndicesOff) {
  const Tensor indices = Tensor::Of<int64_t>({4}, {1, -1, 2, 0});
  EXPECT_THAT(Result(OpKind::kOneHot, OneHotAttrs{2, 5, -1, DType::kInt32}, {indices}),
              ElementsAre(-1, 5, -1, -1, -1, -1, 5, -1));
  EXPECT_THAT(Result(OpKind::kOneHot, OneHotAttrs{2, 1, 0, DType::kBFloat16}, {indices}),
              ElementsAre(0, 1, 0, 0, 0, 0, 1, 0));
}

TEST(ReferenceReduction, AnyAxesOfEveryNumber) {
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64}) {
    const Tensor x = Counting({2, 3, 2}, dtype);
    EXPECT_THAT(Result(OpKind::kSum, ReduceAttrs{{0, 2}}, {x}), ElementsAre(14, 22, 30)) << DTypeName(dtype);
    EXPECT_THAT(Result(OpKind::kSum, ReduceAttrs{{1}}, {x}), ElementsAre(6, 9, 24, 27)) << DTypeName(dtype);
    EXPECT_THAT(Result(OpKind::kSum, ReduceAttrs{{}}, {Counting({3}, dtype)}), ElementsAre(0, 1, 2))
        << DTypeName(dtype);
    EXPECT_THAT(Result(OpKind::kMean, ReduceAttrs{{1}}, {x}), ElementsAre(2, 3, 8, 9)) << DTypeName(dtype);
    EXPECT_THAT(Result(OpKind::kMax, ReduceAttrs{{0}}, {x}), ElementsAre(6, 7, 8, 9, 10, 11)) << DTypeName(dtype);
    EXPECT_THAT(Result(OpKind::kMin, ReduceAttrs{{0, 1, 2}, true}, {x}), ElementsAre(0)) << DTypeName(dtype);
  }
}

TEST(ReferenceReduction, SumsOfFloatsRunInDouble) {
  Tensor x(DType::kFloat32, {1 << 20});
  std::ranges::fill(x.data<float>(), 0.1f);
  const double exact = static_cast<double>(0.1f) * (1 << 20);
  EXPECT_THAT(Result(OpKind::kSum, ReduceAttrs{{0}}, {x}), ElementsAre(static_cast<float>(exact)));
  EXPECT_THAT(Result(OpKind::kL2Loss, NoAttrs{}, {Tensor::Of<float>({3}, {1, 2, 4})}), ElementsAre(10.5));
}

TEST(ReferenceReduction, EmptyAxesGiveTheNeutralElement) {
  const Tensor x(DType::kFloat32, {2, 0});
  EXPECT_THAT(Result(OpKind::kSum, ReduceAttrs{{1}}, {x}), ElementsAre(0, 0));
  EXPECT_THAT(Result(OpKind::kMax, ReduceAttrs{{1}}, {x}), ElementsAre(-INFINITY, -INFINITY));
  EXPECT_TRUE(std::isnan(Result(OpKind::kMean, ReduceAttrs{{1}}, {x})[0]));
}

TEST(ReferenceReduction, NaNIsNotHiddenByAMaximum) {
  for (OpKind kind : {OpKind::kMax, OpKind::kMin})
    EXPECT_TRUE(std::isnan(Result(kind, ReduceAttrs{{0}}, {Tensor::Of<float>({3}, {1, NAN, 2})})[0])) << OpName(kind);
}

TEST(ReferenceSearch, ArgMaxTakesTheFirstMaximumAlongItsAxis) {
  const Tensor x = Tensor::Of<float>({2, 3}, {1, 5, 5, 4, 4, 2});
  EXPECT_THAT(Result(OpKind::kArgMax, AxisAttrs{1}, {x}), ElementsAre(1, 0));
  EXPECT_THAT(Result(OpKind::kArgMax, AxisAttrs{0}, {x}), ElementsAre(1, 0, 0));
}

TEST(ReferenceSearch, TopKOrdersEqualValuesByIndexAndNaNLast) {
  const Tensor x = Tensor::Of<double>({2, 4}, {1, 3, NAN, 3, 2, 2, 2, 1});
  const auto top = RunOp(ReferenceTable(), {OpKind::kTopK, TopKAttrs{3}, {x}});
  EXPECT_THAT(ToDoubles(top[0]), ElementsAre(3, 3, 1, 2, 2, 2));
  EXPECT_THAT(ToDoubles(top[1]), ElementsAre(1, 3, 0, 0, 1, 2));
}

TEST(ReferenceSearch, InTopKCountsWhatIsStrictlyGreater) {
  const Tensor x = Tensor::Of<float>({5, 3}, {1, 2, 3, 1, 2, 2, 1, NAN, 0, 3, 2, 1, 3, 2, 1});
  const Tensor targets = Tensor::Of<int64_t>({5}, {1, 1, 0, 3, -1});
  EXPECT_THAT(Result(OpKind::kInTopK, TopKAttrs{1}, {x, targets}), ElementsAre(0, 1, 0, 0, 0));
  EXPECT_THAT(Result(OpKind::kInTopK, TopKAttrs{2}, {x, targets}), ElementsAre(1, 1, 0, 0, 0));
}

}  // namespace
}  // namespace muster
