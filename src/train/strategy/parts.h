#pragma once

#include <string>
#include <vector>

#include "muster/scope.h"

namespace muster::train {

// One tensor, as each tower has it, in the order of the towers.
using Parts = std::vector<Output>;

// Where the parts of a tensor meet, and what their sum is multiplied by.
struct ExchangeContext {
  Scope scope;                             // names only
  std::vector<std::string> tower_devices;  // "/gpu:0", …
  double scale = 1;                        // 1 for a sum, 1/towers for a mean
  std::vector<std::string> cpus = {"/cpu:0"};

  int num_towers() const { return static_cast<int>(tower_devices.size()); }
  Scope OnTower(int tower) const { return scope.WithDevice(tower_devices[static_cast<size_t>(tower)]); }
};

// x times "scale", or x itself if that is 1.
Output Scaled(const Scope& scope, Output x, double scale);
// The sum of the parts, in their order and on the scope's device, times "scale". Half-precision parts are added as
// float32.
Output ScaledSum(const Scope& scope, const Parts& parts, double scale);

// x as a vector.
Output Flat(const Scope& scope, Output x);
// x, a vector, as a tensor of this shape.
Output Unflat(const Scope& scope, Output x, const Shape& shape);
// "total" elements in "num" pieces: as equal as can be, the larger ones first.
std::vector<int64_t> EqualPieces(int64_t total, int64_t num);
// A vector cut into pieces of these sizes; itself if there is one.
std::vector<Output> Cut(const Scope& scope, Output x, const std::vector<int64_t>& sizes);
// The reverse.
Output Join(const Scope& scope, const std::vector<Output>& pieces);

}  // namespace muster::train
