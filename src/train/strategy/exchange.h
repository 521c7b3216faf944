#pragma once

#include <vector>

#include "muster/exchange.h"
#include "train/strategy/parts.h"

namespace muster::train {

struct Exchanged {
  std::vector<Parts> gradients;  // by gradient, then tower
  std::vector<NodeId> also;      // to be run with the step
};

// Sums (times the context's scale) each gradient over the towers, in the way that the options say. All parts are valid
// and of one shape.
Exchanged ExchangeGradients(const ExchangeContext& context, const ExchangeOptions& options,
                            std::vector<Parts> gradients);

// The values of one step ago; zeros in the first. "also" receives what keeps the new ones.
Parts DelayOneStep(const ExchangeContext& context, const Parts& parts, std::vector<NodeId>* also);

}  // namespace muster::train
