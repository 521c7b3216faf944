#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "bench/console.h"
#include "bench/derived.h"
#include "bench/result_json.h"
#include "bench/step_runner.h"

namespace muster::bench {

// What a run comes to, as the peer's run() returns it.
struct BenchResult {
  ExitState state = ExitState::kFinished;
  int64_t num_workers = 1;
  int64_t num_steps = 0;
  double average_wall_time = 0;  // seconds per timed step
  double images_per_sec = 0;
  std::optional<double> last_average_loss;
  std::optional<Accuracies> accuracies;  // of the last evaluation
};

// Where the loop takes time from; tests hand in their own.
struct Surroundings {
  Console& console;
  std::function<double()> clock = SteadySeconds;  // seconds, never goes back
  std::vector<std::string> words;                 // of the command line, for the result file
  std::vector<std::string> notes;                 // to be shown once the request has turned out well
};

// A whole benchmark: checks, information block, model, warm-up, timed steps, total; structured log and result file.
// Everything that can be wrong with the request is found before the first step, and an unwritable output before the
// model is built. Ends early when Interrupted() turns true: the total so far is printed and the state says so. Throws
// Error otherwise; a result file that was asked for is then written too, once the model began to run, and also when
// standard output takes no more.
BenchResult Run(const BenchParams& params, const OwnParams& own, const StepRunnerFactory& factory,
                Surroundings surroundings);

// Whether a loss that is not finite ends the run. Unless --check_nan says so: only if the user chose the rate or the
// data. On synthetic images, which are not normalised, some models (lenet) diverge at their own rate in
// tf_cnn_benchmarks too, and a benchmark of speed goes on; a note says once that the loss is not finite.
bool NanStops(const BenchParams& params, const OwnParams& own);

}  // namespace muster::bench
