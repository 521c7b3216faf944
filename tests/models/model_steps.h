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
  // of activations; float64 runs on the reference backend, the others on the CPU backend
  DType dtype = DType::kFloat64;

  // For test names: letters, digits and underscores.
  std::string Name() const;
};

// Every model that Muster takes from the public program, in both data formats and precisions: what takes long, or the
// rest.
std::vector<ModelStepsCase> ModelStepsCases(bool slow);

// Rows of the file that no case checks: of models that Muster lacks, and second ones of a model.
std::vector<std::string> ModelStepsRowsWithoutCase();

// Every model in bfloat16 in one data format, what takes long or the rest; small ones of the rest in float16 too.
std::vector<ModelStepsCase> HalfModelStepsCases(bool slow);

// Runs evaluation, training, two updates, and compares everything the row lists.
void CheckModelSteps(const ModelStepsCase& c);

}  // namespace muster::testing
