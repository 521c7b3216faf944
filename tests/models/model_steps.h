#pragma once

#include <string>
#include <vector>

#include "muster/attrs.h"
#include "muster/dtype.h"

namespace muster::testing {

// One check of a whole model against its row of golden/model_steps.json.
struct ModelStepsCase {
  std::string model, dataset;
  DataFormat format = DataFormat::kNHWC;
  DType dtype = DType::kFloat64;  // float64 runs on the reference backend, float32 on the CPU backend

  // For test names: letters, digits and underscores.
  std::string Name() const;
};

// Every model that Muster takes from the public program, in both data formats and precisions: what takes long, or the
// rest.
std::vector<ModelStepsCase> ModelStepsCases(bool slow);

// Runs evaluation, training, two updates, and compares everything the row lists.
void CheckModelSteps(const ModelStepsCase& c);

}  // namespace muster::testing
