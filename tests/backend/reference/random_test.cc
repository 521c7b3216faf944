// The random operations draw from base/random_stream.h, keyed by node, seeds and step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/reference/reference_table.h"
#include "base/random_stream.h"
#include "tests/backend/testing/run_op.h"

namespace muster {
namespace {

Tensor Draw(OpKind kind, const RandomAttrs& attrs, uint64_t graph_seed, int64_t step, const std::string& name = "r") {
  const Attrs any = attrs;
  const KernelRequest request{kind, &any, {}, {{attrs.dtype, attrs.shape, {}}}, name, graph_seed};
  PreparedKernel prepared = ReferenceTable().Find(kind, attrs.dtype)->prepare(request, {});
  Tensor out(attrs.dtype, attrs.shape);
  void* data = out.raw();
  prepared.kernel->Launch({.outputs = &data, .step = step});
  return out;
}

TEST(ReferenceRandom, DrawsTheStreamOfItsNodeAndStep) {
  const RandomAttrs attrs{.dtype = DType::kFloat32, .shape = {7, 3}, .seed = 5};
  const Tensor got = Draw(OpKind::kRandomStandardNormal, attrs, 9, 4, "tower_0/noise");
  std::vector<float> expected(21);
  RandomStream(9, 5, "tower_0/noise").FillNormal(4, 0, std::span(expected));
  EXPECT_THAT(got.data<float>(), ::testing::ElementsAreArray(expected));
}

TEST(ReferenceRandom, StepsDifferAndRepeat) {
  for (OpKind kind : {OpKind::kRandomUniform, OpKind::kRandomStandardNormal, OpKind::kTruncatedNormal}) {
    const RandomAttrs attrs{.dtype = DType::kFloat64, .shape = {4}};
    const auto a = testing::ToDoubles(Draw(kind, attrs, 1, 0)), b = testing::ToDoubles(Draw(kind, attrs, 1, 1));
    EXPECT_NE(a, b) << OpName(kind);
    EXPECT_EQ(a, testing::ToDoubles(Draw(kind, attrs, 1, 0))) << OpName(kind);
  }
}

TEST(ReferenceRandom, IntegersStayInTheirRange) {
  for (DType dtype : {DType::kInt32, DType::kInt64})
    for (double v : testing::ToDoubles(Draw(OpKind::kRandomUniformInt, {dtype, {100}, 0, 5, 8}, 1, 0))) {
      EXPECT_GE(v, 5);
      EXPECT_LT(v, 8);
    }
}

}  // namespace
}  // namespace muster
