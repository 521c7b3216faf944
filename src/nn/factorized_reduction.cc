#include <fmt/format.h>

#include "muster/error.h"
#include "muster/layers.h"
#include "muster/ops/array.h"

namespace muster {
namespace {

// The image moved up and left by one, zeros behind it.
Output ShiftedByOne(const Scope& scope, Output x, DataFormat format) {
  std::vector<std::pair<int64_t, int64_t>> paddings(4, {0, 0});
  std::vector<int64_t> begin(4, 0);
  const size_t height = format == DataFormat::kNHWC ? 1 : 2;
  for (size_t axis : {height, height + 1}) {
    paddings[axis] = {0, 1};
    begin[axis] = 1;
  }
  return ops::Slice(scope, ops::Pad(scope, x, std::move(paddings)), std::move(begin), {-1, -1, -1, -1});
}

}  // namespace

Output ModelBuilder::FactorizedReduction(Output x, int64_t filters, int64_t stride, const BatchNormConfig& config) {
  if (filters % 2 != 0)
    throw InvalidArgument(fmt::format("a factorized reduction needs an even number of filters, not {}", filters));
  if (stride == 1)
    return BatchNorm(Conv(x, filters, 1, 1, {.batch_norm = false, .name = "path_conv"}), config, "path_bn");
  const auto path = [&](Output from, const char* name) {
    return Conv(AvgPool(from, 1, 1, {.strides = {stride, stride}}), filters / 2, 1, 1,
                {.batch_norm = false, .name = name});
  };
  const Output first = path(x, "path1_conv");
  const Output second = path(ShiftedByOne(scope_, x, options_.data_format), "path2_conv");
  return BatchNorm(Concat({first, second}), config, "final_path_bn");
}

}  // namespace muster
