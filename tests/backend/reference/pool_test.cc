// Corner cases of the poolings by hand; the golden values cover the rest.
#include <cmath>

#include <gtest/gtest.h>

#include "backend/reference/reference_table.h"
#include "tests/backend/testing/run_op.h"

namespace muster {
namespace {

using testing::RunOp;
using testing::ToDoubles;

const PoolAttrs kSame3{.ksize = {1, 3}, .strides = {1, 1}, .padding = Padding::kSame};

Tensor Row(std::initializer_list<double> values) {
  return Tensor::Of<double>({1, 1, static_cast<int64_t>(values.size()), 1}, values);
}

TEST(ReferencePool, AverageDividesByRealCells) {
  EXPECT_EQ(ToDoubles(RunOp(ReferenceTable(), {OpKind::kAvgPool, kSame3, {Row({2, 4, 6, 8})}})[0]),
            (std::vector<double>{3, 4, 6, 7}));
}

TEST(ReferencePool, AverageGradientSharesByRealCells) {
  PoolAttrs attrs = kSame3;
  attrs.target_shape = {1, 1, 4, 1};
  EXPECT_EQ(ToDoubles(RunOp(ReferenceTable(), {OpKind::kAvgPoolGrad, attrs, {Row({2, 3, 6, 4})}})[0]),
            (std::vector<double>{2, 4, 5, 4}));
}

TEST(ReferencePool, MaximumOfNegativesIgnoresPadding) {
  EXPECT_EQ(ToDoubles(RunOp(ReferenceTable(), {OpKind::kMaxPool, kSame3, {Row({-5, -4, -7, -9})}})[0]),
            (std::vector<double>{-4, -4, -4, -7}));
}

TEST(ReferencePool, GradientOfTiesGoesToTheFirst) {
  const Tensor x = Row({1, 1, 1, 0}), y = Row({1, 1, 1, 1}), dy = Row({1, 10, 100, 1000});
  EXPECT_EQ(ToDoubles(RunOp(ReferenceTable(), {OpKind::kMaxPoolGrad, kSame3, {x, y, dy}})[0]),
            (std::vector<double>{11, 100, 1000, 0}));
}

TEST(ReferencePool, NotANumberPassesThroughTheMaximum) {
  const auto y = ToDoubles(RunOp(ReferenceTable(), {OpKind::kMaxPool, kSame3, {Row({1, NAN, 3, 4, 5})}})[0]);
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]) && std::isnan(y[2]));
  EXPECT_EQ(y[3], 5);
}

}  // namespace
}  // namespace muster
