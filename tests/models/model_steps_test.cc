// Whole models with weights from a formula against golden/model_steps.json: logits, loss, the gradient of every
// variable, running statistics, and the losses after one and two updates.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/model_steps.h"

namespace muster {
namespace {

using testing::ModelStepsCase;

class GoldenModelSteps : public ::testing::TestWithParam<ModelStepsCase> {};
class HalfModelSteps : public ::testing::TestWithParam<ModelStepsCase> {};
class SlowModelSteps : public ::testing::TestWithParam<ModelStepsCase> {};

TEST_P(GoldenModelSteps, AreTensorFlows) { testing::CheckModelSteps(GetParam()); }
TEST_P(SlowModelSteps, AreTensorFlows) { testing::CheckModelSteps(GetParam()); }

TEST(GoldenModelStepsFile, EveryRowHasACase) {
  EXPECT_THAT(testing::ModelStepsRowsWithoutCase(), ::testing::IsEmpty());
}

std::string NameOf(const ::testing::TestParamInfo<ModelStepsCase>& info) { return info.param.Name(); }

INSTANTIATE_TEST_SUITE_P(Models, GoldenModelSteps, ::testing::ValuesIn(testing::ModelStepsCases(false)), NameOf);
// Against the same float64 values; how far half precision may be from them is in model_steps.cc.
TEST_P(HalfModelSteps, AreNearTensorFlows) { testing::CheckModelSteps(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Models, HalfModelSteps, ::testing::ValuesIn(testing::HalfModelStepsCases(false)), NameOf);
INSTANTIATE_TEST_SUITE_P(HalfModels, SlowModelSteps, ::testing::ValuesIn(testing::HalfModelStepsCases(true)), NameOf);
INSTANTIATE_TEST_SUITE_P(Models, SlowModelSteps, ::testing::ValuesIn(testing::ModelStepsCases(true)), NameOf);

}  // namespace
}  // namespace muster
