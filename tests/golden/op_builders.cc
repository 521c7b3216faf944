#include "tests/golden/op_builders.h"

#include "muster/error.h"
#include "muster/ops.h"

namespace muster::testing {
namespace {

using Pair = std::array<int64_t, 2>;

// Sliding windows: "stride", "padding" and, for EXPLICIT, "pad_top_bottom" and "pad_left_right".
template <typename WindowAttrs>
WindowAttrs Window(const CaseGraph& c) {
  const nlohmann::json& a = c.attrs();
  WindowAttrs attrs;
  attrs.strides = a.at("stride").get<Pair>();
  attrs.data_format = c.format();
  const std::string padding = a.at("padding");
  attrs.padding = padding == "SAME" ? Padding::kSame : padding == "VALID" ? Padding::kValid : Padding::kExplicit;
  if (attrs.padding == Padding::kExplicit) {
    const Pair rows = a.at("pad_top_bottom"), columns = a.at("pad_left_right");
    attrs.explicit_paddings = {rows[0], rows[1], columns[0], columns[1]};
  }
  return attrs;
}

ConvAttrs Conv(const CaseGraph& c) {
  ConvAttrs attrs = Window<ConvAttrs>(c);
  const int64_t dilation = c.attrs().value("dilation", 1);
  attrs.dilations = {dilation, dilation};
  return attrs;
}

PoolAttrs Pool(const CaseGraph& c) {
  PoolAttrs attrs = Window<PoolAttrs>(c);
  attrs.ksize = c.attrs().at("kernel").get<Pair>();
  return attrs;
}

void Conv2D(CaseGraph& c) { c.ImageResult("y", ops::Conv2D(c.scope(), c.Image("x"), c.Filter("w"), Conv(c))); }

void Depthwise(CaseGraph& c) {
  c.ImageResult("y", ops::DepthwiseConv2dNative(c.scope(), c.Image("x"), c.Filter("w"), Conv(c)));
}

void MaxPool(CaseGraph& c) { c.ImageResult("y", ops::MaxPool(c.scope(), c.Image("x"), Pool(c))); }
void AvgPool(CaseGraph& c) { c.ImageResult("y", ops::AvgPool(c.scope(), c.Image("x"), Pool(c))); }

ops::BatchNormOutputs BatchNorm(CaseGraph& c, bool is_training) {
  BatchNormAttrs attrs;
  attrs.epsilon = c.attrs().at("epsilon");
  attrs.is_training = is_training;
  attrs.data_format = c.format();
  const auto outputs = ops::FusedBatchNorm(c.scope(), c.Image("x"), c.Input("gamma"), c.Input("beta"),
                                           c.Input("running_mean"), c.Input("running_var"), attrs);
  c.ImageResult("y", outputs.y);
  return outputs;
}

// running * decay + batch * (1 - decay), as moving averages are updated.
Output Decayed(const CaseGraph& c, Output running, Output batch, double decay) {
  const Output step =
      ops::Mul(c.scope(), ops::Sub(c.scope(), running, batch), ops::ScalarLike(c.scope(), 1 - decay, c.dtype()));
  return ops::Sub(c.scope(), running, step);
}

void BatchNormTraining(CaseGraph& c) {
  const auto outputs = BatchNorm(c, true);
  c.Result("batch_mean", outputs.batch_mean);
  c.Result("batch_var_unbiased", outputs.batch_variance);
  for (const char* decay : {"0.9", "0.997", "0.999"}) {
    const double factor = std::stod(decay);
    c.Result(std::string("running_mean_after_") + decay,
             Decayed(c, c.Input("running_mean"), outputs.batch_mean, factor));
    c.Result(std::string("running_var_after_") + decay,
             Decayed(c, c.Input("running_var"), outputs.batch_variance, factor));
  }
}

void BatchNormInference(CaseGraph& c) { BatchNorm(c, false); }

void Lrn(CaseGraph& c) {
  const nlohmann::json& a = c.attrs();
  LRNAttrs attrs{
      .depth_radius = a.at("depth_radius"), .bias = a.at("bias"), .alpha = a.at("alpha"), .beta = a.at("beta")};
  attrs.data_format = c.format();
  c.ImageResult("y", ops::LRN(c.scope(), c.Image("x"), attrs));
}

void Dense(CaseGraph& c) {
  c.Result("y", ops::BiasAdd(c.scope(), ops::MatMul(c.scope(), c.Input("x"), c.Input("w")), c.Input("b")));
}

void MatMul(CaseGraph& c) {
  const bool ta = c.attrs().value("transpose_a", false), tb = c.attrs().value("transpose_b", false);
  c.Result("y", ops::MatMul(c.scope(), c.Input("x"), c.Input("w"), ta, tb));
}

void BiasAdd(CaseGraph& c) { c.ImageResult("y", ops::BiasAdd(c.scope(), c.Image("x"), c.Input("b"), c.format())); }

template <Output (*Op)(const Scope&, Output)>
void Unary(CaseGraph& c) {
  c.Result("y", Op(c.scope(), c.Input("x")));
}

void SparseCrossEntropy(CaseGraph& c) {
  const Output loss = ops::SparseSoftmaxCrossEntropyWithLogits(c.scope(), c.Input("x"), c.Input("labels"));
  c.Result("y", ops::Mean(c.scope(), loss));
}

void SmoothCrossEntropy(CaseGraph& c) {
  const Output x = c.Input("x");
  const int64_t classes = c.scope().shape(x)[1];
  const double e = c.attrs().at("label_smoothing"), off = e / static_cast<double>(classes);
  const Output target = ops::OneHot(c.scope(), c.Input("labels"), classes, 1 - e + off, off, c.dtype());
  c.Result("y", ops::Mean(c.scope(), ops::SoftmaxCrossEntropyWithLogits(c.scope(), x, target)));
}

void ClipByGlobalNorm(CaseGraph& c) {
  Output norm;
  const std::vector<Output> clipped = ops::ClipByGlobalNorm(c.scope(), c.Inputs("g"), c.attrs().at("clip_norm"), &norm);
  for (size_t i = 0; i < clipped.size(); ++i) c.Result("y" + std::to_string(i), clipped[i]);
  c.Result("global_norm", norm);
}

void ClipByValue(CaseGraph& c) {
  c.Result("y", ops::ClipByValue(c.scope(), c.Input("x"), c.attrs().at("lo"), c.attrs().at("hi")));
}

void Concat(CaseGraph& c) { c.Result("y", ops::Concat(c.scope(), c.Inputs("x"), c.attrs().at("axis"))); }

void Pad(CaseGraph& c) {
  const std::string mode = c.attrs().at("mode");
  const auto paddings = c.attrs().at("paddings").get<std::vector<std::pair<int64_t, int64_t>>>();
  c.Result("y", ops::Pad(c.scope(), c.Input("x"), paddings,
                         mode == "REFLECT"     ? PadMode::kReflect
                         : mode == "SYMMETRIC" ? PadMode::kSymmetric
                                               : PadMode::kConstant));
}

template <Output (*Op)(const Scope&, Output, std::vector<int>, bool)>
void Reduce(CaseGraph& c) {
  const nlohmann::json& axis = c.attrs().at("axis");
  std::vector<int> axes;  // none: all
  if (axis.is_number()) axes = {axis.get<int>()};
  if (axis.is_array()) axes = axis.get<std::vector<int>>();
  c.Result("y", Op(c.scope(), c.Input("x"), axes, c.attrs().at("keepdims")));
}

void Dropout(CaseGraph& c) {
  c.Result("y", ops::DropoutWithUniform(c.scope(), c.Input("x"), c.Input("uniform"), c.attrs().at("keep_prob")));
}

void Transpose(CaseGraph& c) {
  c.Result("y", ops::Transpose(c.scope(), c.Input("x"), c.attrs().at("perm").get<std::vector<int>>()));
}

void BroadcastAdd(CaseGraph& c) { c.Result("y", ops::Add(c.scope(), c.Input("x"), c.Input("b"))); }

void InTopK(CaseGraph& c) {
  for (int k : c.attrs().at("k"))
    c.Result("in_top_" + std::to_string(k), ops::InTopK(c.scope(), c.Input("predictions"), c.Input("targets"), k));
}

void TopK(CaseGraph& c) {
  const Output values = ops::TopK(c.scope(), c.Input("x"), c.attrs().at("k"));
  c.Result("values", values);
  c.Result("indices", {values.node, 1});
}

void ArgMax(CaseGraph& c) { c.Result("y", ops::ArgMax(c.scope(), c.Input("x"), c.attrs().at("axis"))); }

// Half-precision results are compared by their bits ("…_bits") and cast back.
void Cast(CaseGraph& c) {
  const Output f16 = ops::Cast(c.scope(), c.Input("x"), DType::kFloat16);
  const Output bf16 = ops::Cast(c.scope(), c.Input("x"), DType::kBFloat16);
  c.Result("f16_bits", f16);
  c.Result("f16_back", ops::Cast(c.scope(), f16, c.dtype()));
  c.Result("bf16_bits", bf16);
  c.Result("bf16_back", ops::Cast(c.scope(), bf16, c.dtype()));
}

// Where gradients of several places meet in one, their sum depends on its order.
constexpr double kSum = 1e-6;

constexpr OpBuilder kBuilders[] = {
    {.op = "conv2d", .build = Conv2D, .tolerance = 1e-5, .has_format = true},
    {.op = "depthwise_conv2d", .build = Depthwise, .tolerance = 1e-5, .has_format = true},
    {.op = "max_pool", .build = MaxPool, .tolerance = 0, .has_format = true, .gradient_tolerance = kSum},
    {.op = "avg_pool", .build = AvgPool, .has_format = true},
    {.op = "batch_norm_train",
     .build = BatchNormTraining,
     .tolerance = 1e-5,
     .has_format = true,
     .gradient_tolerance = 5e-5},
    {.op = "batch_norm_infer",
     .build = BatchNormInference,
     .tolerance = 1e-5,
     .has_format = true,
     .gradient_tolerance = 5e-5},
    {.op = "lrn", .build = Lrn, .has_format = true},
    {.op = "dense", .build = Dense, .tolerance = 1e-5},
    {.op = "matmul_ta", .build = MatMul, .tolerance = 1e-5},
    {.op = "matmul_tb", .build = MatMul, .tolerance = 1e-5},
    {.op = "bias_add", .build = BiasAdd, .has_format = true},
    {.op = "relu", .build = Unary<ops::Relu>},
    {.op = "relu6", .build = Unary<ops::Relu6>},
    {.op = "tanh", .build = Unary<ops::Tanh>},
    {.op = "sigmoid", .build = Unary<ops::Sigmoid>},
    {.op = "softplus", .build = Unary<ops::Softplus>},
    {.op = "softmax", .build = Unary<ops::Softmax>},
    {.op = "sparse_softmax_xent", .build = SparseCrossEntropy},
    {.op = "softmax_xent_smooth", .build = SmoothCrossEntropy},
    {.op = "l2_loss", .build = Unary<ops::L2Loss>},
    {.op = "clip_by_global_norm", .build = ClipByGlobalNorm},
    {.op = "clip_by_value", .build = ClipByValue},
    {.op = "concat", .build = Concat, .tolerance = 0},
    {.op = "pad", .build = Pad, .tolerance = 0, .gradient_tolerance = kSum},
    {.op = "reduce_mean", .build = Reduce<ops::Mean>},
    {.op = "reduce_sum", .build = Reduce<ops::Sum>},
    {.op = "reduce_max", .build = Reduce<ops::Max>},
    {.op = "dropout", .build = Dropout},
    {.op = "transpose", .build = Transpose, .tolerance = 0},
    {.op = "broadcast_add", .build = BroadcastAdd},
    {.op = "in_top_k", .build = InTopK, .tolerance = 0},
    {.op = "top_k", .build = TopK, .tolerance = 0},
    {.op = "argmax", .build = ArgMax, .tolerance = 0},
    {.op = "cast", .build = Cast, .tolerance = 0},
};

}  // namespace

const OpBuilder* FindOpBuilder(const std::string& op) {
  for (const OpBuilder& builder : kBuilders)
    if (op == builder.op) return &builder;
  return nullptr;
}

}  // namespace muster::testing
