#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "muster/scope.h"

namespace muster::testing {

// One operation with shapes and attributes whose gradient is compared with finite differences.
struct GradientCase {
  OpKind kind;
  std::string name;           // what is special about it
  std::vector<Shape> shapes;  // of its float64 inputs
  // Adds the operation; every output that is returned takes part in the loss.
  std::function<std::vector<Output>(const Scope&, const std::vector<Output>&)> build;
  double low = -1, high = 1;  // inputs are spread evenly over this range, none equal, none 0
};

// How GoogleTest prints a case.
void PrintTo(const GradientCase& c, std::ostream* out);

// All cases: at least one for every operation that has a gradient rule.
std::vector<GradientCase> GradientCases();

// The parts of the table, by header of the builders.
std::vector<GradientCase> ElementwiseGradientCases();
std::vector<GradientCase> ArrayGradientCases();
std::vector<GradientCase> NeuralGradientCases();

}  // namespace muster::testing
