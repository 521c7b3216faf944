#include "train/strategy/all_reduce.h"

namespace muster::train {

AllReduce PlainCopy(bool on_cpu) {
  return [on_cpu](const ExchangeContext& context, const Parts& parts, int64_t position) {
    const int root = static_cast<int>(position % context.num_towers());
    const Scope scope = on_cpu ? context.scope.WithDevice(context.cpus[0]) : context.OnTower(root);
    return Parts(parts.size(), ScaledSum(scope, parts, context.scale));
  };
}

}  // namespace muster::train
