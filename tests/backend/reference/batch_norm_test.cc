#include <cmath>

#include <gtest/gtest.h>

#include "backend/reference/reference_table.h"
#include "tests/backend/testing/run_op.h"

namespace muster {
namespace {

using testing::RandomTensor;
using testing::RunOp;
using testing::ToDoubles;

struct Inputs {
  Tensor x = RandomTensor(DType::kFloat64, {3, 2, 2, 5}, 1), dy = RandomTensor(DType::kFloat64, {3, 2, 2, 5}, 2);
  Tensor side = RandomTensor(DType::kFloat64, {3, 2, 2, 5}, 3);
  Tensor scale = RandomTensor(DType::kFloat64, {5}, 4), offset = RandomTensor(DType::kFloat64, {5}, 5);
  Tensor mean = RandomTensor(DType::kFloat64, {5}, 6), variance = RandomTensor(DType::kFloat64, {5}, 7, 0.5, 2);
};

TEST(ReferenceBatchNorm, OneValuePerChannelHasNoBesselCorrection) {
  const Tensor x = Tensor::Of<double>({1, 1, 1, 1}, {3}), one = Tensor::Of<double>({1}, {1});
  const auto out = RunOp(ReferenceTable(), {OpKind::kFusedBatchNorm, BatchNormAttrs{}, {x, one, one, one, one}});
  EXPECT_EQ(out[0].data<double>()[0], 1);
  EXPECT_EQ(out[2].data<double>()[0], 0);
}

TEST(ReferenceBatchNorm, InferenceReservesWhatItsGradientNeeds) {
  const Inputs in;
  const BatchNormAttrs attrs{.epsilon = 1e-3, .is_training = false};
  const auto out =
      RunOp(ReferenceTable(), {OpKind::kFusedBatchNorm, attrs, {in.x, in.scale, in.offset, in.mean, in.variance}});
  EXPECT_EQ(ToDoubles(out[1]), ToDoubles(in.mean));
  EXPECT_EQ(ToDoubles(out[2]), ToDoubles(in.variance));
  for (size_t c = 0; c < 5; ++c)
    EXPECT_NEAR(out[4].data<double>()[c], 1 / std::sqrt(in.variance.data<double>()[c] + 1e-3), 1e-14);
}

// The fused forms against their parts, for each combination of activation and side input.
TEST(ReferenceBatchNorm, FusedFormsEqualTheirParts) {
  const Inputs in;
  const KernelTable& table = ReferenceTable();
  for (bool training : {true, false})
    for (Activation activation : {Activation::kNone, Activation::kRelu})
      for (bool side : {true, false}) {
        SCOPED_TRACE(::testing::Message() << training << (activation == Activation::kRelu) << side);
        const BatchNormAttrs attrs{.is_training = training, .activation = activation, .has_side_input = side};
        std::vector<Tensor> inputs{in.x, in.scale, in.offset, in.mean, in.variance};
        const auto plain = RunOp(table, {OpKind::kFusedBatchNorm, attrs, inputs});
        if (side) inputs.push_back(in.side);
        const auto fused = RunOp(table, {OpKind::k_FusedBatchNormEx, attrs, inputs});
        Tensor y = plain[0].Clone(), g = in.dy.Clone();
        for (size_t i = 0; i < y.data<double>().size(); ++i) {
          double& value = y.data<double>()[i];
          if (side) value += in.side.data<double>()[i];
          if (activation == Activation::kRelu) value = std::max(value, 0.0);
          if (activation == Activation::kRelu && value <= 0) g.data<double>()[i] = 0;
        }
        EXPECT_EQ(ToDoubles(fused[0]), ToDoubles(y));
        for (size_t i = 1; i < 5; ++i) EXPECT_EQ(ToDoubles(fused[i]), ToDoubles(plain[i]));

        const auto parts = RunOp(table, {OpKind::kFusedBatchNormGrad, attrs, {g, in.x, in.scale, plain[3], plain[4]}});
        const auto grads = RunOp(
            table,
            {OpKind::k_FusedBatchNormGradEx, attrs, {in.dy, in.x, in.scale, plain[3], plain[4], in.offset, fused[0]}});
        ASSERT_EQ(grads.size(), side ? 4u : 3u);
        for (size_t i = 0; i < 3; ++i) EXPECT_EQ(ToDoubles(grads[i]), ToDoubles(parts[i]));
        if (side) {
          EXPECT_EQ(ToDoubles(grads[3]), ToDoubles(g));
        }
      }
}

}  // namespace
}  // namespace muster
