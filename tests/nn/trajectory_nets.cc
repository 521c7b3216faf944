#include "tests/nn/trajectory_nets.h"

#include <nlohmann/json.hpp>

#include "muster/error.h"
#include "muster/ops/array.h"
#include "muster/ops/math.h"
#include "muster/ops/nn.h"

namespace muster::testing {
namespace {

// Plain operations, and not the layers of nn/, so that two descriptions of the same mathematics meet in the test.
struct Net {
  const Scope& scope;
  const TrajectoryVariables& v;
  bool training;
  std::vector<NodeId>* updates;
  DataFormat format;
  double epsilon = 1e-5, decay = 0.9;

  int channel_axis() const { return format == DataFormat::kNCHW ? 1 : 3; }
  std::vector<int> image_axes() const { return format == DataFormat::kNCHW ? std::vector{2, 3} : std::vector{1, 2}; }
  int64_t channels(Output x) const { return scope.shape(x)[channel_axis()]; }

  Output Conv(Output x, const std::string& name, int64_t stride = 1, Padding padding = Padding::kSame) const {
    ConvAttrs attrs;
    attrs.strides = {stride, stride};
    attrs.padding = padding;
    attrs.data_format = format;
    if (padding == Padding::kExplicit) attrs.explicit_paddings = {1, 1, 1, 1};
    return ops::Conv2D(scope, x, v[name + "/w"], attrs);
  }

  Output Pool(Output x, OpKind kind, int64_t size, int64_t stride, Padding padding) const {
    PoolAttrs attrs;
    attrs.ksize = {size, size};
    attrs.strides = {stride, stride};
    attrs.padding = padding;
    attrs.data_format = format;
    return kind == OpKind::kMaxPool ? ops::MaxPool(scope, x, attrs) : ops::AvgPool(scope, x, attrs);
  }

  void Move(Output average, Output batch) const {
    // The decay is a float32, as in TensorFlow.
    const double rate = 1.0 - static_cast<double>(static_cast<float>(decay));
    const Scope beside = scope.ColocatedWith(average.node);
    const Output step =
        ops::Mul(beside, ops::Sub(beside, average, batch), ops::ScalarLike(beside, rate, scope.dtype(average)));
    updates->push_back(ops::AssignSub(beside, average, step).node);
  }

  Output Norm(Output x, const std::string& name) const {
    const Shape channels = scope.shape(v[name + "/beta"].ref);
    const Output gamma =
        v.has(name + "/gamma") ? Output(v[name + "/gamma"]) : ops::Fill(scope, scope.dtype(x), channels, 1);
    BatchNormAttrs attrs;
    attrs.epsilon = epsilon;
    attrs.is_training = training;
    attrs.data_format = format;
    const Output mean = v[name + "/moving_mean"], variance = v[name + "/moving_variance"];
    const auto normed = ops::FusedBatchNorm(scope, x, gamma, v[name + "/beta"], mean, variance, attrs);
    if (training && updates != nullptr) {
      Move(mean, normed.batch_mean);
      Move(variance, normed.batch_variance);
    }
    return normed.y;
  }

  Output Dense(Output x, const std::string& name) const {
    return ops::BiasAdd(scope, ops::MatMul(scope, x, v[name + "/w"]), v[name + "/b"]);
  }
};

Output Lenet(const Net& net, Output x) {
  for (const char* name : {"conv1", "conv2"}) {
    x = ops::BiasAdd(net.scope, net.Conv(x, name), net.v[std::string(name) + "/b"], net.format);
    x = net.Pool(ops::Relu(net.scope, x), OpKind::kMaxPool, 2, 2, Padding::kValid);
  }
  if (net.format == DataFormat::kNCHW)
    x = ops::Transpose(net.scope, x, {0, 2, 3, 1});  // fc1's weights are for (h, w, c)
  x = ops::Reshape(net.scope, x, {net.scope.shape(x)[0], -1});
  return net.Dense(ops::Relu(net.scope, net.Dense(x, "fc1")), "fc2");
}

Output ResnetBlock(const Net& net, Output x, const std::string& name, int64_t stride) {
  const int64_t width = net.scope.shape(net.v[name + "/conv2/w"].ref)[3];
  const int64_t missing = width - net.channels(x);
  Output shortcut = x;
  if (stride > 1) shortcut = net.Pool(shortcut, OpKind::kAvgPool, 1, stride, Padding::kValid);
  if (missing > 0) {
    std::vector<std::pair<int64_t, int64_t>> paddings(4);
    paddings[static_cast<size_t>(net.channel_axis())] = {missing / 2, missing / 2};
    shortcut = ops::Pad(net.scope, shortcut, paddings);
  }
  Output y = ops::Relu(net.scope, net.Norm(x, name + "/bn1"));
  y = net.Conv(y, name + "/conv1", stride, stride > 1 ? Padding::kExplicit : Padding::kSame);
  y = ops::Relu(net.scope, net.Norm(y, name + "/bn2"));
  return ops::Add(net.scope, shortcut, net.Conv(y, name + "/conv2"));
}

Output Resnet(const Net& net, Output x) {
  x = net.Conv(x, "stem");
  x = ResnetBlock(net, x, "block0", 1);
  x = ResnetBlock(net, x, "block1", 2);
  x = ResnetBlock(net, x, "block2", 2);
  x = ops::Relu(net.scope, net.Norm(x, "final/bn"));
  return net.Dense(ops::Mean(net.scope, x, net.image_axes()), "fc");
}

Output Inception(const Net& net, Output x) {
  const auto conv = [&](Output input, const std::string& name, int64_t stride = 1, Padding padding = Padding::kSame) {
    return ops::Relu(net.scope, net.Norm(net.Conv(input, name, stride, padding), name + "/bn"));
  };
  x = conv(x, "stem", 2, Padding::kValid);
  x = ops::Concat(net.scope,
                  {conv(x, "b1x1"), conv(conv(x, "b3a"), "b3b"), conv(conv(conv(x, "b7a"), "b7b"), "b7c"),
                   conv(net.Pool(x, OpKind::kAvgPool, 3, 1, Padding::kSame), "bp")},
                  net.channel_axis());
  x = ops::Concat(net.scope, {conv(x, "red", 2, Padding::kValid), net.Pool(x, OpKind::kMaxPool, 3, 2, Padding::kValid)},
                  net.channel_axis());
  return net.Dense(ops::Mean(net.scope, x, net.image_axes()), "fc");
}

}  // namespace

TrajectoryVariables::TrajectoryVariables(const Scope& scope, DType dtype, const nlohmann::json& listed,
                                         const VariableGetter& get) {
  for (const auto& row : listed) {
    const std::string name = row["name"];
    const std::vector<int64_t> dims = row["shape"];
    const bool trainable = row["trainable"];
    const VariableSpec spec{name, dtype, Shape(std::span<const int64_t>(dims)), initializers::Zeros(), trainable};
    const Variable variable = get ? get(scope, spec) : GetVariable(scope, spec);
    by_name_[name] = variable;
    if (trainable) trainable_.push_back(variable);
    if (trainable && name.find("/gamma") == name.npos && name.find("/beta") == name.npos) decayed_.push_back(variable);
  }
}

Output TrajectoryLogits(const std::string& net, const Scope& scope, const TrajectoryVariables& variables, Output images,
                        bool training, std::vector<NodeId>* updates, DataFormat format) {
  Net builder{scope, variables, training, updates, format};
  if (format == DataFormat::kNCHW) images = ops::Transpose(scope, images, {0, 3, 1, 2});
  if (net == "lenet") return Lenet(builder, images);
  if (net == "resnet") return Resnet(builder, images);
  builder.epsilon = 1e-3;
  builder.decay = 0.999;
  if (net == "inception") return Inception(builder, images);
  throw Unimplemented("no net named " + net + " for golden trajectories");
}

}  // namespace muster::testing
