#include <gtest/gtest.h>
#include <malloc.h>

#include <thread>
#include <vector>

#include "backend/cpu/onednn_adapter.h"
#include "tests/backend/cpu/kernel_runner.h"

namespace muster::cpu {
namespace {

Tensor Expected(const Tensor& a, const Tensor& b, const MatMulAttrs& attrs, int64_t m, int64_t k, int64_t n) {
  Tensor c(DType::kFloat32, {m, n});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += static_cast<double>(a.data<float>()[attrs.transpose_a ? l * m + i : i * k + l]) *
               static_cast<double>(b.data<float>()[attrs.transpose_b ? j * k + l : l * n + j]);
      c.data<float>()[i * n + j] = static_cast<float>(sum);
    }
  return c;
}

class MatMul : public testing::TestWithParam<std::tuple<std::array<int64_t, 3>, bool, bool>> {
 protected:
  int64_t m = std::get<0>(GetParam())[0], k = std::get<0>(GetParam())[1], n = std::get<0>(GetParam())[2];
  MatMulAttrs attrs{std::get<1>(GetParam()), std::get<2>(GetParam())};
  Tensor a = Random(attrs.transpose_a ? Shape{k, m} : Shape{m, k}, 1);
  Tensor b = Random(attrs.transpose_b ? Shape{n, k} : Shape{k, n}, 2);
};

TEST_P(MatMul, SumsProducts) {
  const auto out = RunKernel(OpKind::kMatMul, attrs, {a, b}, {F32({m, n})});
  ExpectNear(out[0], Expected(a, b, attrs, m, k, n), 1e-4);
}

TEST_P(MatMul, FusedBiasAndReluFollowTheSum) {
  const Tensor bias = Random({n}, 3);
  Tensor expected = Expected(a, b, attrs, m, k, n);
  for (int64_t i = 0; i < m * n; ++i)
    expected.data<float>()[i] = std::max(expected.data<float>()[i] + bias.data<float>()[i % n], 0.0f);
  attrs.activation = Activation::kRelu;
  ExpectNear(RunKernel(OpKind::k_FusedMatMul, attrs, {a, b, bias}, {F32({m, n})})[0], expected, 1e-4);
}

TEST_P(MatMul, GivesTheSameBitsWithOneThreadWhenItIsOurs) {
  if (m != 1 && n != 1 && k != 1) GTEST_SKIP() << "oneDNN's";
  ExpectEqualBits(RunKernel(OpKind::kMatMul, attrs, {a, b}, {F32({m, n})}, {.threads = 1})[0],
                  RunKernel(OpKind::kMatMul, attrs, {a, b}, {F32({m, n})}, {.threads = 2})[0]);
}

// oneDNN packs matrices in buffers that it takes from the heap and gives back at each call, a MiB at most here. Without
// base/heap.h the heap grows to twenty times that on CPUs without AVX-512.
TEST(MatMulMemory, TheHeapDoesNotGrowWithEachProduct) {
  constexpr int kThreads = 2;
  std::vector<float> a(6272 * 256, 1.0f), b(2048 * 1024, 1.0f), c(6272 * 256);
  std::vector<onednn::Primitive> products;
  for (const auto& [m, k, n] : std::vector<std::array<int64_t, 3>>{
           {392, 512, 2048}, {392, 2048, 512}, {784, 256, 1024}, {784, 1024, 256}, {6272, 64, 256}, {6272, 256, 64}})
    for (const bool transpose : {false, true})
      products.push_back(
          onednn::MakeMatMul({.m = m, .k = k, .n = n, .transpose_a = transpose, .transpose_b = transpose}, kThreads));
  int64_t scratchpad_bytes = 1;
  for (const onednn::Primitive& product : products)
    scratchpad_bytes = std::max(scratchpad_bytes, product.scratchpad_bytes());
  const Tensor scratchpad(DType::kUInt8, {scratchpad_bytes});
  std::thread([&] {  // with a team of its own, whose heaps are new
    const size_t before = ::mallinfo2().arena;
    for (int round = 0; round < 4; ++round)
      for (onednn::Primitive& product : products)
        product.Run(std::array<void*, 3>{a.data(), b.data(), c.data()}, const_cast<void*>(scratchpad.raw()));
    EXPECT_LT(::mallinfo2().arena - before, size_t{8} << 20);
  })
      .join();
}

using Size = std::array<int64_t, 3>;
INSTANTIATE_TEST_SUITE_P(Sizes, MatMul,
                         testing::Combine(testing::Values(Size{32, 48, 64}, Size{3, 5, 7}, Size{32, 20000, 1},
                                                          Size{1, 333, 70}, Size{1, 20000, 1}, Size{9, 1, 50},
                                                          Size{40, 1, 1}, Size{1, 1, 40}, Size{1, 1, 1},
                                                          Size{128, 300, 10}, Size{17, 3, 1}),
                                          testing::Bool(), testing::Bool()));

// Dense layers in the form of their own, with any number of threads.
class DenseLayer : public testing::TestWithParam<std::array<int64_t, 3>> {
 protected:
  int64_t batch = GetParam()[0], in = GetParam()[1], out = GetParam()[2];
  Tensor x = Random({batch, in}, 1), w = Random({in, out}, 2), dy = Random({batch, out}, 3), bias = Random({out}, 4);

  void ExpectSameBits(OpKind kind, const Attrs& attrs, const std::vector<Tensor>& inputs, const Shape& result) const {
    const auto one = RunKernel(kind, attrs, inputs, {F32(result)}, {.threads = 1, .use_wishes = true});
    for (int threads : {2, 3})
      ExpectEqualBits(one[0],
                      RunKernel(kind, attrs, inputs, {F32(result)}, {.threads = threads, .use_wishes = true})[0]);
  }
};

TEST_P(DenseLayer, GivesTheSameBitsWithAnyNumberOfThreads) {
  ExpectSameBits(OpKind::k_FusedMatMul, MatMulAttrs{.activation = Activation::kRelu}, {x, w, bias}, {batch, out});
  ExpectSameBits(OpKind::kMatMul, MatMulAttrs{.transpose_b = true}, {dy, w}, {batch, in});
  ExpectSameBits(OpKind::kMatMul, MatMulAttrs{.transpose_a = true}, {x, dy}, {in, out});
}

TEST_P(DenseLayer, AnImageDoesNotDependOnTheOthers) {
  if (batch < 2) GTEST_SKIP() << "a single image";
  const auto first = [](const Tensor& t, int64_t rows) {
    Tensor part(DType::kFloat32, {rows, t.shape()[1]});
    std::copy_n(t.data<float>().begin(), part.data<float>().size(), part.data<float>().begin());
    return part;
  };
  const RunOptions options{.use_wishes = true};
  const Tensor y = RunKernel(OpKind::k_FusedMatMul, MatMulAttrs{}, {x, w, bias}, {F32({batch, out})}, options)[0];
  ExpectNear(RunKernel(OpKind::k_FusedMatMul, MatMulAttrs{}, {first(x, 2), w, bias}, {F32({2, out})}, options)[0],
             first(y, 2), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Sizes, DenseLayer,
                         testing::Values(Size{32, 512, 144}, Size{5, 333, 200}, Size{131, 700, 97}, Size{2, 1024, 1024},
                                         Size{4, 1001, 100}));

TEST(MatMulOfNothing, IsTheBias) {
  const auto out =
      RunKernel(OpKind::k_FusedMatMul, MatMulAttrs{},
                {Tensor(DType::kFloat32, {2, 0}), Tensor(DType::kFloat32, {0, 3}), Tensor::Of<float>({3}, {1, -2, 3})},
                {F32({2, 3})});
  ExpectNear(out[0], Tensor::Of<float>({2, 3}, {1, -2, 3, 1, -2, 3}), 0);
}

}  // namespace
}  // namespace muster::cpu
