#include <cmath>

#include <gtest/gtest.h>

#include "backend/reference/reference_table.h"
#include "muster/error.h"
#include "tests/backend/testing/run_op.h"

namespace muster {
namespace {

using testing::RunOp;

TEST(ReferenceLoss, LabelOutsideTheClassesIsNamed) {
  const Tensor logits(DType::kFloat32, {3, 10}), labels = Tensor::Of<int32_t>({3}, {0, 12, 1});
  try {
    RunOp(ReferenceTable(), {OpKind::kSparseSoftmaxCrossEntropyWithLogits, NoAttrs{}, {logits, labels}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "label 12 of row 1 is outside [0, 10)");
  }
}

TEST(ReferenceLoss, HugeLogitsDoNotOverflow) {
  const Tensor logits = Tensor::Of<double>({1, 2}, {1e300, 1e300}), labels = Tensor::Of<int64_t>({1}, {1});
  const auto out = RunOp(ReferenceTable(), {OpKind::kSparseSoftmaxCrossEntropyWithLogits, NoAttrs{}, {logits, labels}});
  EXPECT_DOUBLE_EQ(out[0].data<double>()[0], std::log(2.0));
  EXPECT_DOUBLE_EQ(out[1].data<double>()[1], -0.5);
}

TEST(ReferenceLoss, DenseLabelsOfOneClassEqualSparseOnes) {
  const Tensor logits = testing::RandomTensor(DType::kFloat64, {2, 5}, 1, -3, 3);
  const Tensor sparse = Tensor::Of<int32_t>({2}, {4, 0});
  const Tensor dense = Tensor::Of<double>({2, 5}, {0, 0, 0, 0, 1, 1, 0, 0, 0, 0});
  const auto a = RunOp(ReferenceTable(), {OpKind::kSparseSoftmaxCrossEntropyWithLogits, NoAttrs{}, {logits, sparse}});
  const auto b = RunOp(ReferenceTable(), {OpKind::kSoftmaxCrossEntropyWithLogits, NoAttrs{}, {logits, dense}});
  EXPECT_EQ(testing::ToDoubles(a[0]), testing::ToDoubles(b[0]));
  EXPECT_EQ(testing::ToDoubles(a[1]), testing::ToDoubles(b[1]));
}

TEST(ReferenceLoss, AnImpossibleClassWithoutWeightCostsNothing) {
  const Tensor logits = Tensor::Of<double>({1, 2}, {-INFINITY, 0}), labels = Tensor::Of<double>({1, 2}, {0, 1});
  EXPECT_EQ(RunOp(ReferenceTable(), {OpKind::kSoftmaxCrossEntropyWithLogits, NoAttrs{}, {logits, labels}})[0]
                .data<double>()[0],
            0);
}

}  // namespace
}  // namespace muster
