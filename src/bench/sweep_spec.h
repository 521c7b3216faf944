#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/flags.h"

namespace muster::bench {

// One flag of a sweep with the values it takes, as the command line would write them.
struct SweepAxis {
  std::string flag;
  std::vector<std::string> values;

  friend bool operator==(const SweepAxis&, const SweepAxis&) = default;
};

// What --sweep says: axes separated by ';', each "flag=value,value,...". "num_gpus=1,2,4;batch_size=16,32" is a grid of
// six points. Throws InvalidArgument that points at the character: a flag that the table lacks, that a sweep sets
// itself (json, sweep, sweep_csv) or that comes twice, an empty list, a value that the flag does not take.
std::vector<SweepAxis> ParseSweep(std::string_view text, const FlagTable& table);

// One point of the grid: a value for each axis, in the axes' order.
using SweepPoint = std::vector<std::string>;

// All points; the last axis runs fastest.
std::vector<SweepPoint> SweepPoints(const std::vector<SweepAxis>& axes);

}  // namespace muster::bench
