#pragma once

#include <cstdint>
#include <string_view>

namespace muster {

// X(Name) for every operation: TensorFlow's name where it has one; a leading underscore marks what only the compiler
// makes. One list, so that the enum, the names and the operation table cannot disagree.
// clang-format off
#define MUSTER_OP_KINDS(X)                                                                                            \
  /* sources, state, control */                                                                                       \
  X(Placeholder) X(Const) X(Fill) X(Variable) X(Assign) X(AssignAdd) X(AssignSub) X(Identity) X(StopGradient) X(NoOp) \
  X(CollectiveReduce)                                                                                                 \
  /* element-wise, two inputs, broadcasting */                                                                        \
  X(Add) X(Sub) X(Mul) X(Div) X(Pow) X(Maximum) X(Minimum) X(SquaredDifference)                                       \
  X(Equal) X(NotEqual) X(Less) X(LessEqual) X(Greater) X(GreaterEqual) X(LogicalAnd) X(LogicalOr) X(LogicalNot)       \
  /* element-wise, one input */                                                                                       \
  X(Neg) X(Square) X(Sqrt) X(Rsqrt) X(Reciprocal) X(Abs) X(Sign) X(Exp) X(Log) X(Cos) X(Sin) X(Floor) X(Ceil)         \
  X(IsFinite) X(Cast) X(Select) X(AddN)                                                                               \
  X(Relu) X(Relu6) X(Sigmoid) X(Tanh) X(Softplus)                                                                     \
  X(ReluGrad) X(Relu6Grad) X(SigmoidGrad) X(TanhGrad) X(SoftplusGrad)                                                 \
  /* arrays */                                                                                                        \
  X(Reshape) X(Transpose) X(ExpandDims) X(Squeeze) X(Concat) X(Split) X(Slice) X(Pad) X(MirrorPadGrad) X(Tile)        \
  X(Pack) X(BroadcastTo) X(OneHot) X(Bucket) X(Unbucket)                                                              \
  /* reductions and search */                                                                                         \
  X(Sum) X(Mean) X(Max) X(Min) X(ArgMax) X(TopK) X(InTopK) X(L2Loss)                                                  \
  /* linear algebra and convolution */                                                                                \
  X(MatMul) X(BiasAdd) X(BiasAddGrad)                                                                                 \
  X(Conv2D) X(Conv2DBackpropInput) X(Conv2DBackpropFilter)                                                            \
  X(DepthwiseConv2dNative) X(DepthwiseConv2dNativeBackpropInput) X(DepthwiseConv2dNativeBackpropFilter)               \
  /* pooling and normalisation */                                                                                     \
  X(MaxPool) X(MaxPoolGrad) X(AvgPool) X(AvgPoolGrad) X(FusedBatchNorm) X(FusedBatchNormGrad) X(LRN) X(LRNGrad)       \
  /* losses */                                                                                                        \
  X(Softmax) X(LogSoftmax) X(SparseSoftmaxCrossEntropyWithLogits) X(SoftmaxCrossEntropyWithLogits)                    \
  /* random numbers */                                                                                                \
  X(RandomUniform) X(RandomUniformInt) X(RandomStandardNormal) X(TruncatedNormal)                                     \
  /* updates */                                                                                                       \
  X(ApplyGradientDescent) X(ApplyMomentum) X(ApplyRMSProp) X(ApplyCenteredRMSProp) X(ApplyAdam) X(ApplyAdaMax)        \
  X(ApplyAdagrad) X(ApplyAdadelta) X(ApplyFtrl) X(ApplyProximalGradientDescent)                                       \
  /* made by the compiler */                                                                                          \
  X(_FusedConv2D) X(_FusedConv2DBackpropFilter) X(_FusedMatMul) X(_MatMulApplyGradientDescent)                        \
  X(_FusedBatchNormEx) X(_FusedBatchNormGradEx) X(_MaxPoolReluGrad)                                                   \
  X(_Snapshot) X(_Reorder) X(_Send) X(_Recv)
// clang-format on

enum class OpKind : uint16_t {
#define MUSTER_OP_ENUM(name) k##name,
  MUSTER_OP_KINDS(MUSTER_OP_ENUM)
#undef MUSTER_OP_ENUM
};

inline constexpr std::string_view kOpNames[] = {
#define MUSTER_OP_NAME(name) #name,
    MUSTER_OP_KINDS(MUSTER_OP_NAME)
#undef MUSTER_OP_NAME
};

inline constexpr size_t kNumOpKinds = sizeof(kOpNames) / sizeof(kOpNames[0]);

// "Conv2D" for OpKind::kConv2D.
constexpr std::string_view OpName(OpKind kind) { return kOpNames[static_cast<size_t>(kind)]; }

}  // namespace muster
