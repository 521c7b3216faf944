#pragma once

#include <string>
#include <vector>

#include "bench/params.h"

namespace muster::bench {

// The model of golden/update_rules.json, trained by the program's own graph and schedule: loss = mean(x) A B with A = 1
// and B = 2 at the start. Image number i is i - 1; each step takes the next ones, and deals them out to the towers in
// turn; after four steps' images they begin anew.
struct TwoScalarsRun {
  BenchParams params;
  OwnParams own;
  std::string backend = "cpu";  // of CPU devices
  int steps = 4;
};
// The printed loss of each step.
std::vector<double> TrainTwoScalars(const TwoScalarsRun& run);

}  // namespace muster::bench
