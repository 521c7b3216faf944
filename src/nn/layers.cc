#include "muster/layers.h"

#include <cmath>

#include <fmt/format.h>

#include "muster/ops/array.h"
#include "muster/ops/math.h"
#include "muster/ops/nn.h"
#include "muster/ops/random.h"
#include "muster/ops/state.h"
#include "nn/layer_library.h"

namespace muster {
namespace {

Initializer DenseInitializer(const AffineOptions& options, int64_t inputs) {
  if (options.kernel_initializer) return options.kernel_initializer;
  const double gain = options.activation == LayerActivation::kRelu ? 2.0 : 1.0;
  return initializers::TruncatedNormal(0, options.stddev.value_or(std::sqrt(gain / static_cast<double>(inputs))));
}

// Zeros before a dimension of a kernel of this size, and behind it, that keep "same" positions whatever the stride.
void PadForKernel(int64_t size, int64_t* before, int64_t* after) {
  *before = (size - 1) / 2;
  *after = size - 1 - *before;
}

}  // namespace

std::string ModelBuilder::CountedName(std::string_view kind) {
  int& count = counts_.try_emplace(std::string(kind), 0).first->second;
  return fmt::format("{}{}", kind, count++);
}

std::string ModelBuilder::LayerScope(std::string_view given, std::string_view kind) {
  if (!given.empty()) return std::string(given);
  if (library_ == LayerLibrary::kConvNetBuilder) return CountedName(kind);
  // The first has no number. Counted apart, so that the kinds of two libraries may share a name.
  int& count = counts_.try_emplace(fmt::format("{}_", kind), 0).first->second;
  const int number = count++;
  return number == 0 ? std::string(kind) : fmt::format("{}_{}", kind, number);
}

Variable ModelBuilder::MakeVariable(std::string_view name, DType dtype, const Shape& shape, Initializer initializer,
                                    bool trainable) {
  const VariableSpec spec{name, dtype, shape, std::move(initializer), trainable};
  Variable variable =
      options_.get_variable ? options_.get_variable(scope_, spec) : GetVariable(scope_, spec, options_.reuse);
  if (trainable) trainable_variables_.push_back(variable);
  return variable;
}

Output ModelBuilder::Weight(std::string_view name, const Shape& shape, Initializer initializer) {
  const DType dtype = options_.dtype == DType::kFloat64 ? DType::kFloat64 : options_.variable_dtype;
  Output weight = MakeVariable(name, dtype, shape, std::move(initializer), true);
  return dtype == options_.dtype ? weight : ops::Cast(scope_, weight, options_.dtype);
}

ConvAttrs ModelBuilder::AttrsOf(const Shape& kernel, const ConvOptions& options) const {
  ConvAttrs attrs;
  attrs.strides = options.strides;
  attrs.data_format = options_.data_format;
  const bool strided = options.strides != std::array<int64_t, 2>{1, 1};
  attrs.padding = options.padding == ConvPadding::kValid ? Padding::kValid : Padding::kSame;
  if (options.padding == ConvPadding::kSameResnet && strided) {
    attrs.padding = Padding::kExplicit;
    PadForKernel(kernel[0], &attrs.explicit_paddings[0], &attrs.explicit_paddings[1]);
    PadForKernel(kernel[1], &attrs.explicit_paddings[2], &attrs.explicit_paddings[3]);
  }
  return attrs;
}

Output ModelBuilder::FinishConv(Output y, const ConvOptions& options) {
  const LayerNames& names = NamesOf(library_);
  if (options.batch_norm.value_or(use_batch_norm_)) {
    y = BatchNorm(y, batch_norm_config_, names.inner_batch_norm);
  } else if (options.bias) {
    const Output biases = Weight(names.biases, {channels(y)}, initializers::Constant(*options.bias));
    y = ops::BiasAdd(scope_, y, biases, options_.data_format);
  }
  return Activate(y, options.activation);
}

Output ModelBuilder::Conv(Output x, int64_t filters, int64_t height, int64_t width, const ConvOptions& options) {
  const LayerNames& names = NamesOf(library_);
  const Shape shape{height, width, channels(x), filters};
  const auto convolve = [&] {
    return ops::Conv2D(scope_, x, Weight(names.kernel, shape, KernelInitializer(library_, options)),
                       AttrsOf(shape, options));
  };
  return Within(LayerScope(options.name, names.conv), [&] {
    return FinishConv(names.kernel_scope.empty() ? convolve() : Within(names.kernel_scope, convolve), options);
  });
}

Output ModelBuilder::Affine(Output x, int64_t units, const AffineOptions& options) {
  const LayerNames& names = NamesOf(library_);
  return Within(LayerScope({}, names.dense), [&] {
    const int64_t inputs = channels(x);
    Output weights = Weight(names.dense_kernel, {inputs, units}, DenseInitializer(options, inputs));
    Output biases = Weight(names.biases, {units}, initializers::Constant(options.bias));
    return Activate(ops::BiasAdd(scope_, ops::MatMul(scope_, x, weights), biases), options.activation);
  });
}

Output ModelBuilder::Activate(Output x, LayerActivation activation) {
  switch (activation) {
    case LayerActivation::kRelu: return ops::Relu(scope_, x);
    case LayerActivation::kRelu6: return ops::Relu6(scope_, x);
    case LayerActivation::kTanh: return ops::Tanh(scope_, x);
    default: return x;
  }
}

Output ModelBuilder::Pool(Output x, OpKind kind, std::string_view name, std::array<int64_t, 2> window,
                          const PoolOptions& options) {
  PoolAttrs attrs;
  attrs.ksize = window;
  attrs.strides = options.strides;
  attrs.padding = options.padding;
  attrs.data_format = options_.data_format;
  const Scope scope = scope_.WithName(CountedName(name));
  return kind == OpKind::kMaxPool ? ops::MaxPool(scope, x, attrs) : ops::AvgPool(scope, x, attrs);
}

Output ModelBuilder::MaxPool(Output x, int64_t height, int64_t width, const PoolOptions& options) {
  return Pool(x, OpKind::kMaxPool, "mpool", {height, width}, options);
}

Output ModelBuilder::AvgPool(Output x, int64_t height, int64_t width, const PoolOptions& options) {
  return Pool(x, OpKind::kAvgPool, "apool", {height, width}, options);
}

Output ModelBuilder::Flatten(Output x) { return ops::Reshape(scope_, x, {scope_.shape(x)[0], -1}); }

Output ModelBuilder::SpatialMean(Output x) {
  const int first = options_.data_format == DataFormat::kNHWC ? 1 : 2;
  return ops::Mean(scope_.WithName(CountedName("spatial_mean")), x, {first, first + 1});
}

Output ModelBuilder::Dropout(Output x, double keep_prob) {
  const std::string name = CountedName("dropout");
  if (!drops() || keep_prob >= 1) return x;
  return ops::Dropout(scope_.WithName(name), x, keep_prob);
}

Output ModelBuilder::DropPath(Output x, Output keep_prob) {
  const std::string name = CountedName("drop_path");
  if (!drops()) return x;
  const Scope scope = scope_.WithName(name);
  Shape one_each = scope.shape(x);
  for (int axis = 1; axis < one_each.rank(); ++axis) one_each = one_each.With(axis, 1);
  const Output uniform = ops::RandomUniform(scope, scope.dtype(keep_prob), one_each);
  const Output kept = ops::Floor(scope, ops::Add(scope, uniform, keep_prob));
  const Output factor = ops::StopGradient(scope, ops::Div(scope, kept, keep_prob));
  const DType dtype = scope.dtype(x);
  return ops::Mul(scope, x, scope.dtype(factor) == dtype ? factor : ops::Cast(scope, factor, dtype));
}

Output ModelBuilder::Lrn(Output x, LRNAttrs attrs) {
  attrs.data_format = options_.data_format;
  return ops::LRN(scope_.WithName(CountedName("lrn")), x, attrs);
}

Output ModelBuilder::Relu(Output x) { return ops::Relu(scope_, x); }
Output ModelBuilder::Add(Output a, Output b) { return ops::Add(scope_, a, b); }

Output ModelBuilder::Concat(const std::vector<Output>& parts) {
  return ops::Concat(scope_, parts, channel_axis(parts.front()));
}

Output ModelBuilder::PadChannels(Output x, int64_t before, int64_t after) {
  std::vector<std::pair<int64_t, int64_t>> paddings(static_cast<size_t>(scope_.shape(x).rank()), {0, 0});
  paddings[static_cast<size_t>(channel_axis(x))] = {before, after};
  return ops::Pad(scope_, x, std::move(paddings));
}

}  // namespace muster
