#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/attrs.h"
#include "muster/variables.h"

namespace muster {

// Padding of a convolution. kSameResnet pads (k-1)/2 before and the rest of k-1 after, whatever the stride, which
// differs from SAME when strided.
enum class ConvPadding : uint8_t { kSame, kValid, kSameResnet };
enum class LayerActivation : uint8_t { kLinear, kRelu, kRelu6, kTanh };

// Whose layers a builder imitates: how they and their variables are called, and what kernels start from when the
// options do not say. A network is known by the names in its checkpoints.
enum class LayerLibrary : uint8_t {
  kConvNetBuilder,  // tf_cnn_benchmarks': conv0/conv2d/kernel, conv0/biases, batchnorm0/gamma, affine0/weights
  kSlim,            // TF-slim's: Conv/weights, Conv/biases, Conv/BatchNorm/gamma, then Conv_1; Glorot's uniform
  kTfLayers,        // tf.layers': conv2d/kernel, conv2d/bias, batch_normalization/gamma, dense/kernel, then conv2d_1
};

struct BatchNormConfig {
  double decay = 0.999;  // of the running averages
  double epsilon = 0.001;
  bool scale = false;  // whether there is a gamma
};

struct ConvOptions {
  std::array<int64_t, 2> strides{1, 1};  // height, width
  ConvPadding padding = ConvPadding::kSame;
  LayerActivation activation = LayerActivation::kRelu;
  std::optional<bool> batch_norm{};  // unset: as the builder says
  std::optional<double> bias = 0.0;  // the biases' first value; unset: no biases. Batch norm leaves no place for them
  std::optional<double> stddev{};    // of a truncated normal; unset: the library's, variance scaling
  Initializer kernel_initializer{};  // beats stddev
  std::string name{};                // of the layer's scope; empty: the library's, counted
};

struct PoolOptions {
  std::array<int64_t, 2> strides{2, 2};
  Padding padding = Padding::kValid;
};

struct AffineOptions {
  LayerActivation activation = LayerActivation::kRelu;
  double bias = 0.0;
  std::optional<double> stddev{};    // unset: sqrt(2/inputs) before a ReLU, sqrt(1/inputs) otherwise
  Initializer kernel_initializer{};  // beats stddev
};

// One layer of an inception column. kShare stands for the layer at the same height of the column before.
struct ColumnLayer {
  enum class Kind : uint8_t { kConv, kMaxPool, kAvgPool, kShare } kind = Kind::kShare;
  int64_t filters = 0;
  int64_t height = 0, width = 0;
  int64_t stride = 1;
  Padding padding = Padding::kSame;
};
using Columns = std::vector<std::vector<ColumnLayer>>;

// Adds what moves a running average of batch norm by "rate" towards the statistic of a batch; MoveAverage, or what a
// strategy does in its place.
using MovingAverageUpdater = std::function<void(const Scope& scope, Output moving, Output batch, double rate)>;
// moving -= rate (moving - batch), on the device of "moving"; returns the node of the assignment.
NodeId MoveAverage(const Scope& scope, Output moving, Output batch, double rate);

// The mean over all towers of a value that each of them has, such as the statistics of its part of the batch.
using TowerMean = std::function<Output(const Scope& scope, Output x)>;

struct BuilderOptions {
  DataFormat data_format = DataFormat::kNHWC;
  bool phase_train = true;                 // batch statistics, dropout
  DType dtype = DType::kFloat32;           // of activations
  DType variable_dtype = DType::kFloat32;  // of weights, which are cast when read; float64 activations imply float64
  bool dropout = true;                     // false: dropout is the identity even in training
  bool update_moving_averages = true;      // false: training leaves the running averages alone (towers after the first)
  MovingAverageUpdater move_average{};     // empty: MoveAverage, as one of the builder's update operations
  // If set, batch norm in training uses the statistics of all towers' batches together, as one tower on the joined
  // batch would.
  TowerMean mean_over_towers{};
  int num_towers = 1;  // that mean_over_towers covers
  Reuse reuse = Reuse::kAuto;
  VariableGetter get_variable{};  // empty: GetVariable with "reuse"
};

// Builds layers and names them as tf_cnn_benchmarks' ConvNetBuilder does (or another library: UsingLibrary), so that
// variables get the names of its checkpoints: counters give conv0, conv1, affine0, batchnorm0, mpool0 …; inside the
// scope "cg" the first kernel is "cg/conv0/conv2d/kernel". Each function takes the layer's input and returns its
// output. Used by one thread; it keeps a copy of its scope, and must not outlive the graph.
class ModelBuilder {
 public:
  ModelBuilder(Scope scope, BuilderOptions options) : scope_(std::move(scope)), options_(std::move(options)) {}

  Output Conv(Output x, int64_t filters, int64_t height, int64_t width, const ConvOptions& options = {});
  // Each channel by itself (a multiplier of one): [batch, …, channels] -> as many channels.
  Output DepthwiseConv(Output x, int64_t height, int64_t width, const ConvOptions& options = {});
  // A depthwise convolution, strided, and a 1x1 one after it, with nothing between; biases and the rest follow both.
  Output SeparableConv(Output x, int64_t filters, int64_t height, int64_t width, const ConvOptions& options = {});
  Output MaxPool(Output x, int64_t height, int64_t width, const PoolOptions& options = {});
  Output AvgPool(Output x, int64_t height, int64_t width, const PoolOptions& options = {});
  // [batch, …] -> [batch, rest], in memory order: NCHW and NHWC differ here, as in TensorFlow.
  Output Flatten(Output x);
  // A dense layer on [batch, inputs].
  Output Affine(Output x, int64_t units, const AffineOptions& options = {});
  // Columns side by side on one input, concatenated along the channels, in a scope of this name and number 0.
  Output InceptionModule(Output x, std::string_view name, const Columns& columns);
  // NASNet's way to halve an image without losing what lies between the strides (Zoph et al. 2017, appendix): every
  // stride-th position through one 1x1 convolution, the positions one row and column on through another, side by side,
  // then batch norm; variables path1_conv, path2_conv, final_path_bn. With a stride of 1 a 1x1 convolution and batch
  // norm: path_conv, path_bn. "filters" must be even.
  Output FactorizedReduction(Output x, int64_t filters, int64_t stride, const BatchNormConfig& config = {});
  // Along the channels.
  Output Concat(const std::vector<Output>& parts);
  // Mean over height and width: [batch, channels].
  Output SpatialMean(Output x);
  Output Dropout(Output x, double keep_prob = 0.5);
  // Zero for whole examples, each kept with probability keep_prob (float32 scalar) and then divided by it (Larsson et
  // al. 2016). The identity where dropout is.
  Output DropPath(Output x, Output keep_prob);
  bool drops() const { return options_.phase_train && options_.dropout; }
  // In training: normalises with the batch's statistics and adds the update of the running averages to the graph's
  // update operations. Otherwise: uses the running averages. The default is tf_cnn_benchmarks' own, whatever
  // convolutions use. The name is of its scope; empty: the library's, counted.
  Output BatchNorm(Output x, const BatchNormConfig& config = {}, std::string_view name = {});
  // Local response normalisation over the channels.
  Output Lrn(Output x, LRNAttrs attrs);
  Output Relu(Output x);
  Output Add(Output a, Output b);
  // Zero channels before and after x's.
  Output PadChannels(Output x, int64_t before, int64_t after);

  // Whether convolutions normalise by default, and how.
  void UseBatchNorm(const BatchNormConfig& config) {
    use_batch_norm_ = true;
    batch_norm_config_ = config;
  }

  // The layers that "body" adds go into a variable scope of this name; the counters run on.
  template <typename Body>
  auto Within(std::string_view name, Body body) {
    ScopeGuard guard(this, scope_.WithVariableScope(name));
    return body();
  }
  // The layers that "body" adds are those of another library.
  template <typename Body>
  auto UsingLibrary(LayerLibrary library, Body body) {
    LibraryGuard guard(this, library);
    return body();
  }
  // "resnet_v1" -> "resnet_v10", then "resnet_v11": a counted name.
  std::string CountedName(std::string_view kind);

  int64_t channels(Output x) const { return scope_.shape(x)[channel_axis(x)]; }
  // 1 for an image in NCHW, the last axis otherwise.
  int channel_axis(Output x) const {
    const int rank = scope_.shape(x).rank();
    return rank == 4 && options_.data_format == DataFormat::kNCHW ? 1 : rank - 1;
  }
  const Scope& scope() const { return scope_; }
  const BuilderOptions& options() const { return options_; }
  // The trainable variables that layers asked for, in order.
  const std::vector<Variable>& trainable_variables() const { return trainable_variables_; }
  // Updates of running averages that this builder added, in order.
  const std::vector<NodeId>& update_ops() const { return update_ops_; }

 private:
  // Puts the scope back when a block of layers ends, also when it throws.
  class ScopeGuard {
   public:
    ScopeGuard(ModelBuilder* builder, Scope inner) : builder_(builder), outer_(builder->scope_) {
      builder->scope_ = std::move(inner);
    }
    ~ScopeGuard() { builder_->scope_ = outer_; }

   private:
    ModelBuilder* builder_;
    Scope outer_;
  };

  class LibraryGuard {
   public:
    LibraryGuard(ModelBuilder* builder, LayerLibrary inner) : builder_(builder), outer_(builder->library_) {
      builder->library_ = inner;
    }
    ~LibraryGuard() { builder_->library_ = outer_; }

   private:
    ModelBuilder* builder_;
    LayerLibrary outer_;
  };

  // The scope of the next layer of this kind: the given name, or the kind counted as the library does.
  std::string LayerScope(std::string_view given, std::string_view kind);
  Variable MakeVariable(std::string_view name, DType dtype, const Shape& shape, Initializer initializer,
                        bool trainable);
  // A weight as the activations' type.
  Output Weight(std::string_view name, const Shape& shape, Initializer initializer);
  // Statistics and their parameters stay float32 beside half-precision activations.
  DType batch_norm_dtype() const { return options_.dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32; }

  ConvAttrs AttrsOf(const Shape& kernel, const ConvOptions& options) const;
  // Batch norm or biases, and the activation.
  Output FinishConv(Output y, const ConvOptions& options);
  Output Pool(Output x, OpKind kind, std::string_view name, std::array<int64_t, 2> window, const PoolOptions& options);
  Output Activate(Output x, LayerActivation activation);
  Output ScaleOf(int64_t channels, bool trained);
  struct NormInputs;
  Output SynchronisedNorm(const NormInputs& in, const BatchNormConfig& config);
  void UpdateMovingAverage(Output moving, Output batch, double decay);

  Scope scope_;
  BuilderOptions options_;
  LayerLibrary library_ = LayerLibrary::kConvNetBuilder;
  bool use_batch_norm_ = false;
  BatchNormConfig batch_norm_config_;
  std::map<std::string, int, std::less<>> counts_;
  std::vector<Variable> trainable_variables_;
  std::vector<NodeId> update_ops_;
};

}  // namespace muster
