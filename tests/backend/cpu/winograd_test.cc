// Winograd's convolutions against the definition, for shapes that the backend's rule would not choose it for as well.

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "backend/cpu/winograd.h"
#include "tests/backend/cpu/kernel_runner.h"

namespace muster::cpu {
namespace {

using onednn::ConvKind;
using onednn::ConvProblem;

struct Case {
  const char* name;
  Shape x;
  int64_t out_c;
  std::array<int64_t, 4> pads;  // top, bottom, left, right
  int64_t kernel = 3;
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }

ConvProblem ProblemOf(const Case& c) {
  ConvProblem p;
  p.batch = c.x[0], p.in_h = c.x[1], p.in_w = c.x[2], p.in_c = c.x[3], p.out_c = c.out_c;
  p.kernel_h = p.kernel_w = c.kernel, p.paddings = c.pads;
  p.out_h = p.in_h + c.pads[0] + c.pads[1] - c.kernel + 1, p.out_w = p.in_w + c.pads[2] + c.pads[3] - c.kernel + 1;
  return p;
}

Shape YShape(const ConvProblem& p) { return {p.batch, p.out_h, p.out_w, p.out_c}; }
Shape XShape(const ConvProblem& p) { return {p.batch, p.in_h, p.in_w, p.in_c}; }
Shape FilterShape(const ConvProblem& p) { return {p.kernel_h, p.kernel_w, p.in_c, p.out_c}; }

// Calls visit(x index, filter index, y index) at channels 0 for each pair of pixels that a tap joins.
template <typename Visit>
void ForEachTap(const ConvProblem& p, const Visit& visit) {
  for (int64_t n = 0; n < p.batch; ++n)
    for (int64_t i = 0; i < p.out_h; ++i)
      for (int64_t j = 0; j < p.out_w; ++j)
        for (int64_t tap = 0; tap < p.kernel_h * p.kernel_w; ++tap) {
          const int64_t row = i + tap / p.kernel_w - p.paddings[0], col = j + tap % p.kernel_w - p.paddings[2];
          if (row < 0 || row >= p.in_h || col < 0 || col >= p.in_w) continue;
          visit(((n * p.in_h + row) * p.in_w + col) * p.in_c, tap * p.in_c * p.out_c,
                ((n * p.out_h + i) * p.out_w + j) * p.out_c);
        }
}

// What the definition gives, in double precision, rounded. The tensors are x, filter and y, of which "kind" says the
// result.
Tensor Expected(ConvKind kind, const ConvProblem& p, const Tensor& first, const Tensor& second) {
  const Shape shape = kind == ConvKind::kForward        ? YShape(p)
                      : kind == ConvKind::kBackwardData ? XShape(p)
                                                        : FilterShape(p);
  std::vector<double> sums(static_cast<size_t>(shape.num_elements()));
  const float *a = first.data<float>().data(), *b = second.data<float>().data();
  ForEachTap(p, [&](int64_t x, int64_t f, int64_t y) {
    for (int64_t c = 0; c < p.in_c; ++c)
      for (int64_t k = 0; k < p.out_c; ++k) {
        const int64_t w = f + c * p.out_c + k;
        switch (kind) {
          case ConvKind::kForward:
            sums[static_cast<size_t>(y + k)] += static_cast<double>(a[x + c]) * static_cast<double>(b[w]);
            break;
          case ConvKind::kBackwardData:
            sums[static_cast<size_t>(x + c)] += static_cast<double>(a[w]) * static_cast<double>(b[y + k]);
            break;
          case ConvKind::kBackwardFilter:
            sums[static_cast<size_t>(w)] += static_cast<double>(a[x + c]) * static_cast<double>(b[y + k]);
            break;
        }
      }
  });
  Tensor result(DType::kFloat32, shape);
  std::ranges::transform(sums, result.data<float>().begin(), [](double v) { return static_cast<float>(v); });
  return result;
}

struct Inputs {
  Tensor first, second;
};

Inputs InputsOf(ConvKind kind, const ConvProblem& p) {
  const Tensor x = Random(XShape(p), 1), filter = Random(FilterShape(p), 2), dy = Random(YShape(p), 3);
  switch (kind) {
    case ConvKind::kForward: return {x, filter};
    case ConvKind::kBackwardData: return {filter, dy};
    default: return {x, dy};
  }
}

// Runs the kernel with outputs and workspace full of NaN, so that what it forgets to write shows.
Tensor Convolve(ConvKind kind, const ConvProblem& p, const Inputs& in, int threads = 2, const Tensor* bias = nullptr) {
  const Shape shape = kind == ConvKind::kForward        ? YShape(p)
                      : kind == ConvKind::kBackwardData ? XShape(p)
                                                        : FilterShape(p);
  PreparedKernel prepared = kind == ConvKind::kBackwardFilter
                                ? PrepareWinogradFilterGradient(p, threads)
                                : PrepareWinograd(kind, p, {.bias = bias != nullptr, .relu = bias != nullptr}, threads);
  Tensor result(DType::kFloat32, shape);
  std::memset(result.raw(), 0xFF, result.byte_size());
  const auto workspace = Buffer::OnHost(static_cast<size_t>(prepared.workspace_bytes));
  std::memset(workspace->data(), 0xFF, workspace->bytes());
  std::vector<Tensor> tensors{in.first, in.second};
  if (bias != nullptr) tensors.push_back(*bias);
  std::vector<void*> inputs;
  for (Tensor& tensor : tensors) inputs.push_back(tensor.raw());
  void* outputs[] = {result.raw()};
  prepared.kernel->Launch({inputs.data(), outputs, workspace->data(), 0, nullptr});
  return result;
}

double RootMeanSquare(const Tensor& t) {
  double sum = 0;
  for (float v : t.data<float>()) sum += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(sum / static_cast<double>(t.data<float>().size()));
}

constexpr ConvKind kKinds[] = {ConvKind::kForward, ConvKind::kBackwardData, ConvKind::kBackwardFilter};

class Winograd : public testing::TestWithParam<Case> {};

TEST_P(Winograd, GivesWhatTheDefinitionGivesInAllThreeDirections) {
  const ConvProblem p = ProblemOf(GetParam());
  ASSERT_TRUE(CanUseWinograd(p));
  for (ConvKind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    const Inputs in = InputsOf(kind, p);
    const Tensor got = Convolve(kind, p, in), expected = Expected(kind, p, in.first, in.second);
    const double size = RootMeanSquare(expected) + 0.1;
    Tensor difference(DType::kFloat32, expected.desc().shape);
    for (size_t i = 0; i < got.data<float>().size(); ++i) {
      difference.data<float>()[i] = got.data<float>()[i] - expected.data<float>()[i];
      ASSERT_NEAR(got.data<float>()[i], expected.data<float>()[i], 3e-5 * size) << "element " << i;
    }
    EXPECT_LE(RootMeanSquare(difference), 4e-6 * size) << "the usual rounding error, see winograd_transform_simd.h";
  }
}

TEST_P(Winograd, BitsDoNotDependOnTheNumberOfThreads) {
  const ConvProblem p = ProblemOf(GetParam());
  for (ConvKind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    const Inputs in = InputsOf(kind, p);
    const Tensor one = Convolve(kind, p, in, 1);
    for (int threads : {2, 3}) ExpectEqualBits(Convolve(kind, p, in, threads), one);
  }
}

TEST_P(Winograd, BiasAndReluFollowTheSum) {
  const ConvProblem p = ProblemOf(GetParam());
  const Inputs in = InputsOf(ConvKind::kForward, p);
  const Tensor bias = Random({p.out_c}, 4);
  Tensor expected = Convolve(ConvKind::kForward, p, in);
  size_t i = 0;
  for (float& v : expected.data<float>()) v = std::max(v + bias.data<float>()[i++ % bias.data<float>().size()], 0.0f);
  ExpectEqualBits(Convolve(ConvKind::kForward, p, in, 2, &bias), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Winograd,
    testing::Values(
        Case{"one_tile", {1, 4, 4, 16}, 16, {1, 1, 1, 1}}, Case{"one_pixel", {2, 1, 1, 8}, 8, {1, 1, 1, 1}},
        Case{"one_channel", {2, 6, 5, 1}, 1, {1, 1, 1, 1}}, Case{"odd_channels", {2, 9, 7, 5}, 19, {1, 1, 1, 1}},
        Case{"no_padding", {1, 13, 11, 20}, 36, {0, 0, 0, 0}}, Case{"one_output", {1, 3, 3, 17}, 33, {0, 0, 0, 0}},
        Case{"uneven_padding", {2, 7, 8, 12}, 10, {0, 2, 3, 1}}, Case{"wide_padding", {1, 5, 5, 16}, 8, {4, 3, 5, 2}},
        Case{"many_tiles", {3, 50, 34, 16}, 24, {1, 1, 1, 1}},       // several blocks and pieces
        Case{"many_channels", {2, 10, 10, 200}, 136, {1, 1, 1, 1}},  // planes shared out among the threads
        Case{"many_of_both", {1, 60, 60, 128}, 128, {1, 1, 1, 1}},   // several chunks of tiles
        Case{"five_taps", {2, 9, 7, 20}, 33, {2, 2, 2, 2}, 5},
        Case{"five_taps_no_padding", {1, 11, 12, 16}, 7, {0, 0, 0, 0}, 5},
        Case{"five_taps_one_pixel", {3, 1, 1, 3}, 2, {2, 2, 2, 2}, 5},
        Case{"five_taps_uneven", {1, 6, 7, 8}, 8, {5, 1, 0, 3}, 5},
        Case{"five_taps_many_tiles", {2, 27, 31, 32}, 64, {2, 2, 2, 2}, 5},
        Case{"five_taps_many_channels", {1, 14, 14, 130}, 120, {2, 2, 2, 2}, 5}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(WinogradRule, TakesLargeLayersAndLeavesTheOthers) {
  const auto prefers = [](int64_t batch, int64_t size, int64_t channels, ConvKind kind = ConvKind::kForward) {
    return PrefersWinograd(kind, ProblemOf({"", {batch, size, size, channels}, channels, {1, 1, 1, 1}}));
  };
  EXPECT_TRUE(prefers(16, 56, 256));
  EXPECT_TRUE(prefers(128, 32, 16));
  EXPECT_FALSE(prefers(1, 7, 512)) << "transforming the filter costs more than it saves";
  EXPECT_FALSE(prefers(16, 224, 3)) << "too few channels";
  EXPECT_FALSE(prefers(64, 1, 512)) << "tiles are mostly outside";
}

TEST(WinogradRule, LeavesConvolutionsThatItCannotCompute) {
  const ConvProblem good = ProblemOf({"", {16, 56, 56, 64}, 64, {1, 1, 1, 1}});
  ConvProblem strided = good, dilated = good, grouped = good, large = good, other_type = good;
  strided.strides = {1, 2}, dilated.dilations = {2, 1}, grouped.groups = 2, large.kernel_w = 7,
  other_type.dtype = DType::kBFloat16;
  EXPECT_TRUE(CanUseWinograd(good));
  for (const ConvProblem& p : {strided, dilated, grouped, large, other_type}) EXPECT_FALSE(CanUseWinograd(p));
}

}  // namespace
}  // namespace muster::cpu
