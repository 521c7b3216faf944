#include "muster/layers.h"
#include "muster/ops/nn.h"
#include "nn/layer_library.h"

namespace muster {

Output ModelBuilder::DepthwiseConv(Output x, int64_t height, int64_t width, const ConvOptions& options) {
  const LayerNames& names = NamesOf(library_);
  return Within(LayerScope(options.name, names.separable), [&] {
    const Shape shape{height, width, channels(x), 1};
    const Output kernel = Weight(names.depthwise_kernel, shape, KernelInitializer(library_, options));
    return FinishConv(ops::DepthwiseConv2dNative(scope_, x, kernel, AttrsOf(shape, options)), options);
  });
}

Output ModelBuilder::SeparableConv(Output x, int64_t filters, int64_t height, int64_t width,
                                   const ConvOptions& options) {
  const LayerNames& names = NamesOf(library_);
  return Within(LayerScope(options.name, names.separable), [&] {
    const Shape depthwise{height, width, channels(x), 1}, pointwise{1, 1, channels(x), filters};
    const Initializer initializer = KernelInitializer(library_, options);
    Output y = ops::DepthwiseConv2dNative(scope_, x, Weight(names.depthwise_kernel, depthwise, initializer),
                                          AttrsOf(depthwise, options));
    y = ops::Conv2D(scope_, y, Weight(names.pointwise_kernel, pointwise, initializer), AttrsOf(pointwise, {}));
    return FinishConv(y, options);
  });
}

}  // namespace muster
