// Whole models with weights from a formula against golden/model_steps.json: logits, loss, the gradient of every
// variable, running statistics, and the losses after one and two updates.

#include <gtest/gtest.h>

#include "tests/models/model_steps.h"

namespace muster {
namespace {

using testing::ModelStepsCase;

class GoldenModelSteps : public ::testing::TestWithParam<ModelStepsCase> {};
class SlowModelSteps : public ::testing::TestWithParam<ModelStepsCase> {};

TEST_P(GoldenModelSteps, AreTensorFlows) { testing::CheckModelSteps(GetParam()); }
TEST_P(SlowModelSteps, AreTensorFlows) { testing::CheckModelSteps(GetParam()); }

std::string NameOf(const ::testing::TestParamInfo<ModelStepsCase>& info) { return info.param.Name(); }

INSTANTIATE_TEST_SUITE_P(Models, GoldenModelSteps, ::testing::ValuesIn(testing::ModelStepsCases(false)), NameOf);
INSTANTIATE_TEST_SUITE_P(Models, SlowModelSteps, ::testing::ValuesIn(testing::ModelStepsCases(true)), NameOf);

}  // namespace
}  // namespace muster
