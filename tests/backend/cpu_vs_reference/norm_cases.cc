#include "backend/reference/reference_table.h"
#include "tests/backend/cpu_vs_reference/op_cases.h"

namespace muster::testing {
namespace {

// All four kinds on one input, the gradients with what the forward pass leaves for them.
void AddBatchNorms(OpCases* cases, const Shape& shape, const BatchNormAttrs& attrs) {
  const Shape c{shape[3]};
  const Tensor x = Random(shape, -1, 2), scale = Random(c, 0.5, 1.5), offset = Random(c);
  std::vector<Tensor> inputs{x, scale, offset, Random(c), Random(c, 0.5, 2)};
  const Tensor dy = Random(shape);
  const auto plain = RunOp(ReferenceTable(), {OpKind::kFusedBatchNorm, attrs, inputs, ""});
  Add(cases, OpKind::kFusedBatchNorm, attrs, inputs);
  Add(cases, OpKind::kFusedBatchNormGrad, attrs, {dy, x, scale, plain[3], plain[4]});
  if (attrs.has_side_input) inputs.push_back(Random(shape));
  const auto fused = RunOp(ReferenceTable(), {OpKind::k_FusedBatchNormEx, attrs, inputs, ""});
  Add(cases, OpKind::k_FusedBatchNormEx, attrs, inputs);
  Add(cases, OpKind::k_FusedBatchNormGradEx, attrs, {dy, x, scale, fused[3], fused[4], offset, fused[0]});
  Add(cases, OpKind::k_FusedBatchNormGradEx, attrs,
      {dy, x, scale, fused[3], fused[4], offset, fused[0], Random(shape)});
}

}  // namespace

void AddNormCases(OpCases* cases) {
  for (const Shape& shape :
       {Shape{2, 1, 1, 5}, Shape{4, 5, 6, 3}, Shape{3, 7, 7, 16}, Shape{2, 9, 11, 67}, Shape{8, 16, 16, 64}})
    for (bool training : {true, false})
      for (Activation activation : {Activation::kNone, Activation::kRelu})
        for (bool side : {false, true})
          AddBatchNorms(cases, shape,
                        {.epsilon = 1e-3, .is_training = training, .activation = activation, .has_side_input = side});
  for (const Shape& shape : {Shape{2, 3, 4, 13}, Shape{1, 5, 5, 64}, Shape{1, 1, 1, 3}})
    for (const LRNAttrs& attrs :
         {LRNAttrs{.depth_radius = 4, .alpha = 1e-2, .beta = 0.75}, LRNAttrs{.bias = 2, .alpha = 0.1},
          LRNAttrs{.depth_radius = 1, .alpha = 1, .beta = 0.6}}) {
      const Tensor x = Random(shape, -3, 3);
      const Tensor y = RunOp(ReferenceTable(), {OpKind::kLRN, attrs, {x}, ""})[0];
      Add(cases, OpKind::kLRN, attrs, {x});
      Add(cases, OpKind::kLRNGrad, attrs, {Random(shape), x, y});
    }
}

}  // namespace muster::testing
