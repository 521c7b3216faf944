#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/tensor.h"

namespace muster {

// What each device does in one replay of a compiled plan, and what moves between devices: for printing. Plain data.
struct PlanSummary {
  struct Step {
    std::string name;
    std::string op;  // "Conv2D"; the two ends of a transfer are "_Send" and "_Recv"
    std::vector<TensorDesc> outputs;
    int transfer = -1;  // of the step that sends or receives it
  };
  struct Partition {
    std::string device;       // full name
    std::vector<Step> steps;  // in the order in which they run
  };
  // One value that goes to one device, once per replay however many steps read it there.
  struct Transfer {
    std::string value;  // name of the node that makes it
    int output = 0;     // which of its outputs
    TensorDesc desc;
    int64_t bytes = 0;
    std::string from, to;  // full names
  };

  std::vector<Partition> partitions;
  std::vector<Transfer> transfers;  // in the order in which they are sent, by number
};

}  // namespace muster
