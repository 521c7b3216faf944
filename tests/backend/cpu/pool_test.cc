#include <cmath>
#include <optional>

#include <gtest/gtest.h>

#include "tests/backend/cpu/kernel_runner.h"

namespace muster::cpu {
namespace {

struct Case {
  const char* name;
  Shape x;
  PoolAttrs attrs;
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }

// A pooling by its definition. cells[o] are the inputs under output element o in row-major order.
struct Expected {
  Shape y;
  std::vector<std::vector<size_t>> cells;

  explicit Expected(const Case& c) {
    int64_t out[2], before[2];
    for (size_t i = 0; i < 2; ++i) {
      const int64_t in = c.x[1 + static_cast<int>(i)], k = c.attrs.ksize[i], s = c.attrs.strides[i];
      before[i] = 0;
      if (c.attrs.padding == Padding::kValid) out[i] = (in - k) / s + 1;
      else if (c.attrs.padding == Padding::kSame) {
        out[i] = (in + s - 1) / s;
        before[i] = std::max<int64_t>((out[i] - 1) * s + k - in, 0) / 2;
      } else {
        before[i] = c.attrs.explicit_paddings[2 * i];
        out[i] = (in + before[i] + c.attrs.explicit_paddings[2 * i + 1] - k) / s + 1;
      }
    }
    y = {c.x[0], out[0], out[1], c.x[3]};
    for (int64_t n = 0; n < y[0]; ++n)
      for (int64_t i = 0; i < out[0]; ++i)
        for (int64_t j = 0; j < out[1]; ++j)
          for (int64_t ch = 0; ch < y[3]; ++ch) {
            cells.emplace_back();
            for (int64_t h = 0; h < c.attrs.ksize[0]; ++h)
              for (int64_t w = 0; w < c.attrs.ksize[1]; ++w) {
                const int64_t row = i * c.attrs.strides[0] + h - before[0],
                              col = j * c.attrs.strides[1] + w - before[1];
                if (row >= 0 && row < c.x[1] && col >= 0 && col < c.x[2])
                  cells.back().push_back(static_cast<size_t>(((n * c.x[1] + row) * c.x[2] + col) * c.x[3] + ch));
              }
          }
  }
};

class Pool : public testing::TestWithParam<Case> {
 protected:
  const Case& c() const { return GetParam(); }
  Expected expected{GetParam()};
  // Few distinct values, so that windows hold ties.
  Tensor Coarse(const Shape& shape) const {
    Tensor x = Random(shape, 1, -3, 3);
    for (float& v : x.data<float>()) v = std::floor(v);
    return x;
  }
  static size_t Argmax(const Tensor& x, const std::vector<size_t>& cells) {
    size_t best = cells[0];
    for (size_t cell : cells)
      if (x.data<float>()[cell] > x.data<float>()[best]) best = cell;
    return best;
  }
};

TEST_P(Pool, MaxIsTheLargestRealCell) {
  const Tensor x = Coarse(c().x);
  Tensor y(DType::kFloat32, expected.y);
  for (size_t i = 0; i < expected.cells.size(); ++i) y.data<float>()[i] = x.data<float>()[Argmax(x, expected.cells[i])];
  ExpectNear(RunKernel(OpKind::kMaxPool, c().attrs, {x}, {F32(expected.y)})[0], y, 0);
}

TEST_P(Pool, MaxGradientGoesToTheFirstOfEqualCells) {
  const Tensor x = Coarse(c().x), dy = Random(expected.y, 2);
  const Tensor y = RunKernel(OpKind::kMaxPool, c().attrs, {x}, {F32(expected.y)})[0];
  Tensor dx(DType::kFloat32, c().x);
  for (size_t i = 0; i < expected.cells.size(); ++i)
    dx.data<float>()[Argmax(x, expected.cells[i])] += dy.data<float>()[i];
  for (int threads : {1, 2, 5})
    ExpectNear(RunKernel(OpKind::kMaxPoolGrad, c().attrs, {x, y, dy}, {F32(c().x)}, {.threads = threads})[0], dx, 1e-6);
}

TEST_P(Pool, AverageLeavesPaddingOut) {
  const Tensor x = Random(c().x, 1);
  Tensor y(DType::kFloat32, expected.y);
  for (size_t i = 0; i < expected.cells.size(); ++i) {
    double sum = 0;
    for (size_t cell : expected.cells[i]) sum += static_cast<double>(x.data<float>()[cell]);
    y.data<float>()[i] = static_cast<float>(sum / static_cast<double>(expected.cells[i].size()));
  }
  ExpectNear(RunKernel(OpKind::kAvgPool, c().attrs, {x}, {F32(expected.y)})[0], y, 1e-6);
}

TEST_P(Pool, AverageGradientIsSharedByTheRealCells) {
  const Tensor dy = Random(expected.y, 2);
  Tensor dx(DType::kFloat32, c().x);
  for (size_t i = 0; i < expected.cells.size(); ++i)
    for (size_t cell : expected.cells[i])
      dx.data<float>()[cell] += dy.data<float>()[i] / static_cast<float>(expected.cells[i].size());
  PoolAttrs attrs = c().attrs;
  attrs.target_shape = c().x;
  ExpectNear(RunKernel(OpKind::kAvgPoolGrad, attrs, {dy}, {F32(c().x)})[0], dx, 1e-6);
}

PoolAttrs Attrs(std::array<int64_t, 2> ksize, std::array<int64_t, 2> strides, Padding padding,
                std::array<int64_t, 4> pads = {}) {
  return {.ksize = ksize, .strides = strides, .padding = padding, .explicit_paddings = pads};
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Pool,
    testing::Values(Case{"k3s2_same", {2, 12, 11, 20}, Attrs({3, 3}, {2, 2}, Padding::kSame)},
                    Case{"k2s2_valid", {3, 9, 8, 16}, Attrs({2, 2}, {2, 2}, Padding::kValid)},
                    Case{"k3s1_same", {1, 7, 6, 40}, Attrs({3, 3}, {1, 1}, Padding::kSame)},
                    Case{"k1s2", {2, 5, 5, 3}, Attrs({1, 1}, {2, 2}, Padding::kSame)},
                    Case{"k2s3_gaps", {2, 9, 10, 5}, Attrs({2, 2}, {3, 3}, Padding::kValid)},
                    Case{"k3x2s1x2", {1, 6, 9, 33}, Attrs({3, 2}, {1, 2}, Padding::kSame)},
                    Case{"explicit", {2, 7, 7, 17}, Attrs({3, 3}, {2, 2}, Padding::kExplicit, {1, 1, 0, 2})},
                    Case{"global", {3, 8, 8, 48}, Attrs({8, 8}, {1, 1}, Padding::kValid)},
                    Case{"one_channel", {1, 6, 6, 1}, Attrs({2, 2}, {2, 2}, Padding::kValid)}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(PoolNan, WinsAndTakesTheGradient) {
  Tensor x = Random({1, 2, 2, 1}, 1);
  x.data<float>()[2] = std::nanf("");
  const PoolAttrs attrs = Attrs({2, 2}, {2, 2}, Padding::kValid);
  const auto y = RunKernel(OpKind::kMaxPool, attrs, {x}, {F32({1, 1, 1, 1})});
  EXPECT_TRUE(std::isnan(y[0].data<float>()[0]));
  const auto dx =
      RunKernel(OpKind::kMaxPoolGrad, attrs, {x, y[0], Tensor::Of<float>({1, 1, 1, 1}, {5})}, {F32({1, 2, 2, 1})});
  ExpectNear(dx[0], Tensor::Of<float>({1, 2, 2, 1}, {0, 0, 5, 0}), 0);
}

}  // namespace
}  // namespace muster::cpu
