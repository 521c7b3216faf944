#pragma once

#include <memory>

#include "bench/step_runner.h"

namespace muster::bench {

// The engine behind the benchmark loop: builds the model of the request, compiles it for one CPU device, runs it.
std::unique_ptr<StepRunner> MakeModelRunner(const RunnerRequest& request);

// What --batch_size=auto stands for: the largest batch per device that fits memory. Throws what Run would throw for
// these parameters, and Error{ResourceExhausted} if not one image fits.
int64_t LargestBatchSize(const BenchParams& params, const OwnParams& own);

}  // namespace muster::bench
