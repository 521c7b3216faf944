#include "muster/error.h"
#include "muster/layers.h"
#include "muster/ops/array.h"

namespace muster {
namespace {

ConvOptions ConvOptionsOf(const ColumnLayer& layer) {
  ConvOptions options;
  options.strides = {layer.stride, layer.stride};
  options.padding = layer.padding == Padding::kValid ? ConvPadding::kValid : ConvPadding::kSame;
  return options;
}

PoolOptions PoolOptionsOf(const ColumnLayer& layer) { return {{layer.stride, layer.stride}, layer.padding}; }

}  // namespace

Output ModelBuilder::InceptionModule(Output x, std::string_view name, const Columns& columns) {
  // All modules of a kind get number 0: the public program counts under the numbered name by mistake, and its
  // checkpoints are named so. Convolution numbers keep the variables apart.
  return Within(std::string(name) + "0", [&] {
    std::vector<Output> tops, left, here;  // outputs of whole columns, of each layer of the column before, of this one
    for (const auto& column : columns) {
      here.clear();
      Output top = x;
      for (size_t i = 0; i < column.size(); ++i) {
        const ColumnLayer& layer = column[i];
        switch (layer.kind) {
          case ColumnLayer::Kind::kConv:
            top = Conv(top, layer.filters, layer.height, layer.width, ConvOptionsOf(layer));
            break;
          case ColumnLayer::Kind::kMaxPool: top = MaxPool(top, layer.height, layer.width, PoolOptionsOf(layer)); break;
          case ColumnLayer::Kind::kAvgPool: top = AvgPool(top, layer.height, layer.width, PoolOptionsOf(layer)); break;
          case ColumnLayer::Kind::kShare:
            if (i >= left.size()) throw InvalidArgument("an inception column shares a layer that its neighbour lacks");
            top = left[i];
        }
        here.push_back(top);
      }
      tops.push_back(top);
      left = here;
    }
    return ops::Concat(scope_, tops, channel_axis(x));
  });
}

}  // namespace muster
