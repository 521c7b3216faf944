#include <gtest/gtest.h>

#include "tests/backend/cpu/kernel_runner.h"

namespace muster::cpu {
namespace {

using Index = std::vector<int64_t>;

Index IndexOf(const Shape& shape, int64_t i) {
  Index index(static_cast<size_t>(shape.rank()));
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[static_cast<size_t>(axis)] = i % shape[axis];
    i /= shape[axis];
  }
  return index;
}

int64_t OffsetOf(const Shape& shape, const Index& index) {
  int64_t at = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) at = at * shape[axis] + index[static_cast<size_t>(axis)];
  return at;
}

// Fills a tensor with value(index).
template <typename F>
Tensor Build(const Shape& shape, const F& value) {
  Tensor tensor(DType::kFloat32, shape);
  for (int64_t i = 0; i < shape.num_elements(); ++i) tensor.data<float>()[i] = value(IndexOf(shape, i));
  return tensor;
}

float At(const Tensor& x, const Index& index) { return x.data<float>()[OffsetOf(x.desc().shape, index)]; }

class Transpose : public testing::TestWithParam<std::pair<Shape, std::vector<int>>> {};

TEST_P(Transpose, PermutesAxes) {
  const auto& [shape, perm] = GetParam();
  const Tensor x = Random(shape, 1);
  std::vector<int64_t> dims;
  for (int axis : perm) dims.push_back(shape[axis]);
  const Shape out{std::span<const int64_t>(dims)};
  const Tensor expected = Build(out, [&](const Index& to) {
    Index from(to.size());
    for (size_t i = 0; i < to.size(); ++i) from[static_cast<size_t>(perm[i])] = to[i];
    return At(x, from);
  });
  ExpectEqualBits(RunKernel(OpKind::kTranspose, TransposeAttrs{perm}, {x}, {F32(out)})[0], expected);
}

using P = std::pair<Shape, std::vector<int>>;
INSTANTIATE_TEST_SUITE_P(Cases, Transpose,
                         testing::Values(P{{3, 5}, {1, 0}}, P{{4, 23, 21, 3}, {0, 3, 1, 2}},
                                         P{{4, 3, 23, 21}, {0, 2, 3, 1}}, P{{2, 3, 4, 5}, {3, 1, 2, 0}},
                                         P{{2, 3, 4}, {0, 1, 2}}, P{{200, 300}, {1, 0}}, P{{2, 1, 5}, {2, 1, 0}},
                                         P{{3, 4, 5}, {1, 0, 2}}, P{{7}, {0}}, P{{0, 3}, {1, 0}}));

TEST(Concat, AndSplitUndoEachOther) {
  for (int axis = 0; axis < 3; ++axis) {
    const Shape a_shape = Shape{3, 4, 5}.With(axis, 7), b_shape = Shape{3, 4, 5}.With(axis, 64),
                c_shape = Shape{3, 4, 5}.With(axis, 0);
    const Tensor a = Random(a_shape, 1), b = Random(b_shape, 2), c(DType::kFloat32, c_shape);
    const Shape out = a_shape.With(axis, 71);
    const auto joined = RunKernel(OpKind::kConcat, AxisAttrs{axis}, {a, b, c}, {F32(out)});
    const Tensor expected = Build(out, [&](Index i) {
      const size_t k = static_cast<size_t>(axis);
      if (i[k] < 7) return At(a, i);
      i[k] -= 7;
      return At(b, i);
    });
    ExpectEqualBits(joined[0], expected);
    const auto parts = RunKernel(OpKind::kSplit, SplitAttrs{axis, {7, 64, 0}}, {joined[0]},
                                 {F32(a_shape), F32(b_shape), F32(c_shape)});
    ExpectEqualBits(parts[0], a);
    ExpectEqualBits(parts[1], b);
  }
}

TEST(Pack, StacksAlongANewAxis) {
  const Tensor a = Random({3, 4}, 1), b = Random({3, 4}, 2);
  for (int axis = 0; axis < 3; ++axis) {
    const Shape out = Shape{3, 4}.Inserted(axis, 2);
    const auto packed = RunKernel(OpKind::kPack, AxisAttrs{axis}, {a, b}, {F32(out)});
    ExpectEqualBits(packed[0], Build(out, [&](Index i) {
                      const bool second = i[static_cast<size_t>(axis)] == 1;
                      i.erase(i.begin() + axis);
                      return At(second ? b : a, i);
                    }));
  }
}

TEST(Slice, TakesABox) {
  const Tensor x = Random({5, 6, 7}, 1);
  const auto out = RunKernel(OpKind::kSlice, SliceAttrs{{1, 0, 2}, {3, 6, 4}}, {x}, {F32({3, 6, 4})});
  ExpectEqualBits(out[0], Build({3, 6, 4}, [&](const Index& i) { return At(x, {i[0] + 1, i[1], i[2] + 2}); }));
}

class PadModes : public testing::TestWithParam<PadMode> {};

TEST_P(PadModes, FillOrMirrorTheBorder) {
  const Shape in{2, 5, 4, 3}, out{3, 9, 7, 3};
  const PadAttrs attrs{{{0, 1}, {3, 1}, {1, 2}, {0, 0}}, GetParam(), 2.5};
  const Tensor x = Random(in, 1);
  const auto padded = RunKernel(OpKind::kPad, attrs, {x}, {F32(out)});
  const int64_t skip = GetParam() == PadMode::kReflect ? 1 : 0;
  ExpectEqualBits(padded[0], Build(out, [&](Index i) {
                    for (int axis = 0; axis < 4; ++axis) {
                      int64_t& k = i[static_cast<size_t>(axis)];
                      k -= attrs.paddings[static_cast<size_t>(axis)].first;
                      const bool inside = k >= 0 && k < in[axis];
                      if (!inside && GetParam() == PadMode::kConstant) return 2.5f;
                      if (k < 0) k = -1 - k + skip;
                      if (k >= in[axis]) k = 2 * in[axis] - 1 - k - skip;
                    }
                    return At(x, i);
                  }));
}

INSTANTIATE_TEST_SUITE_P(Modes, PadModes, testing::Values(PadMode::kConstant, PadMode::kReflect, PadMode::kSymmetric));

TEST(Tile, RepeatsEachAxis) {
  const Tensor x = Random({2, 3, 5}, 1);
  const Shape out{4, 3, 15};
  const auto tiled = RunKernel(OpKind::kTile, TileAttrs{{2, 1, 3}}, {x}, {F32(out)});
  ExpectEqualBits(tiled[0], Build(out, [&](const Index& i) { return At(x, {i[0] % 2, i[1], i[2] % 5}); }));
}

TEST(BroadcastTo, RepeatsAxesOfSizeOneAndNewOnes) {
  const Tensor x = Random({3, 1, 4}, 1);
  const Shape out{2, 3, 6, 4};
  const auto wide = RunKernel(OpKind::kBroadcastTo, ShapeAttrs{out}, {x}, {F32(out)});
  ExpectEqualBits(wide[0], Build(out, [&](const Index& i) { return At(x, {i[1], 0, i[3]}); }));
  const Tensor scalar = Tensor::Scalar<float>(3);
  const auto filled = RunKernel(OpKind::kBroadcastTo, ShapeAttrs{{50, 40}}, {scalar}, {F32({50, 40})});
  for (float v : filled[0].data<float>()) EXPECT_EQ(v, 3);
}

}  // namespace
}  // namespace muster::cpu
