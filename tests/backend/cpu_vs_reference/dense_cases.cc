#include "tests/backend/cpu_vs_reference/op_cases.h"

namespace muster::testing {
namespace {

void AddMatMulCases(OpCases* cases) {
  struct Size {
    int64_t m, k, n;
  };
  for (const Size& s : {Size{1, 1, 1}, {4, 7, 5}, {16, 64, 10}, {33, 129, 65}, {2, 300, 1000}, {128, 32, 1}})
    for (bool ta : {false, true})
      for (bool tb : {false, true}) {
        const Tensor a = Random(ta ? Shape{s.k, s.m} : Shape{s.m, s.k}),
                     b = Random(tb ? Shape{s.n, s.k} : Shape{s.k, s.n});
        Add(cases, OpKind::kMatMul, MatMulAttrs{ta, tb}, {a, b});
        for (Activation activation : {Activation::kNone, Activation::kRelu})
          Add(cases, OpKind::k_FusedMatMul, MatMulAttrs{ta, tb, activation}, {a, b, Random({s.n})});
      }
}

// Layers that the CPU backend takes in a form of its own, of sizes that fit its tiles and that do not; the last two
// stay plain.
void AddLayerCases(OpCases* cases) {
  struct Size {
    int64_t batch, in, out;
  };
  for (const Size& s :
       {Size{32, 512, 144}, {2, 1100, 65}, {5, 333, 200}, {37, 150, 1001}, {131, 700, 97}, {7, 40, 30}, {1, 5, 3}}) {
    const Tensor x = Random({s.batch, s.in}), dy = Random({s.batch, s.out}), w = Random({s.in, s.out});
    Add(cases, OpKind::kMatMul, MatMulAttrs{}, {x, w});
    Add(cases, OpKind::kMatMul, MatMulAttrs{.transpose_b = true}, {dy, w});
    Add(cases, OpKind::kMatMul, MatMulAttrs{.transpose_a = true}, {x, dy});
    for (Activation activation : {Activation::kNone, Activation::kRelu})
      Add(cases, OpKind::k_FusedMatMul, MatMulAttrs{.activation = activation}, {x, w, Random({s.out})});
    Add(cases, OpKind::k_MatMulApplyGradientDescent, ApplyAttrs{}, {w, Tensor::Scalar(0.1f), x, dy});
    Add(cases, OpKind::k_MatMulApplyGradientDescent, ApplyAttrs{.has_weight_decay = true},
        {w, Tensor::Scalar(0.1f), x, dy, Tensor::Scalar(0.01f)});
  }
}

}  // namespace

void AddDenseCases(OpCases* cases) {
  AddMatMulCases(cases);
  AddLayerCases(cases);
  for (const Shape& shape : {Shape{4, 5}, Shape{128, 1000}, Shape{2, 3, 4, 5}, Shape{2, 7, 7, 64}}) {
    Add(cases, OpKind::kBiasAdd, BiasAddAttrs{}, {Random(shape), Random({shape[shape.rank() - 1]})});
    Add(cases, OpKind::kBiasAddGrad, BiasAddAttrs{}, {Random(shape)});
  }
  for (const Shape& shape : {Shape{1, 1}, Shape{4, 10}, Shape{16, 11}, Shape{33, 1000}, Shape{128, 10}}) {
    const Tensor logits = Random(shape, -8, 8);
    Add(cases, OpKind::kSoftmax, NoAttrs{}, {logits});
    Add(cases, OpKind::kLogSoftmax, NoAttrs{}, {logits});
    for (DType dtype : {DType::kInt32, DType::kInt64})
      Add(cases, OpKind::kSparseSoftmaxCrossEntropyWithLogits, NoAttrs{},
          {logits, RandomIndices(dtype, {shape[0]}, shape[1])});
    Tensor labels = Random(shape, 0, 1);
    for (int64_t i = 0; i < shape[0]; ++i) {
      const auto row = labels.data<float>().subspan(static_cast<size_t>(i * shape[1]), static_cast<size_t>(shape[1]));
      float sum = 0;
      for (float p : row) sum += p;
      for (float& p : row) p /= sum;
    }
    Add(cases, OpKind::kSoftmaxCrossEntropyWithLogits, NoAttrs{}, {logits, labels});
  }
  Add(cases, OpKind::kSoftmax, NoAttrs{}, {Random({3, 4, 5})});
  Add(cases, OpKind::kSoftmax, NoAttrs{}, {Random({3, 6}, -300, 300)});
}

}  // namespace muster::testing
