#pragma once

#include <memory>

#include "bench/step_runner.h"

namespace muster::bench {

// The engine behind the benchmark loop: builds the model of the request, compiles it for one CPU device, runs it.
std::unique_ptr<StepRunner> MakeModelRunner(const RunnerRequest& request);

}  // namespace muster::bench
