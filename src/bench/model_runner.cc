#include "bench/model_runner.h"

#include "muster/error.h"

namespace muster::bench {

std::unique_ptr<StepRunner> MakeModelRunner(const RunnerRequest& request) {
  throw Unimplemented("this build has no engine yet");
}

}  // namespace muster::bench
