#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "muster/tensor.h"

namespace muster {

// Attributes: what a node knows at graph-building time, one small struct per family of operations.

enum class DataFormat : uint8_t { kNHWC, kNCHW };
enum class Padding : uint8_t { kSame, kValid, kExplicit };
enum class PadMode : uint8_t { kConstant, kReflect, kSymmetric };
enum class Activation : uint8_t { kNone, kRelu };

struct NoAttrs {
  friend bool operator==(const NoAttrs&, const NoAttrs&) = default;
};

struct PlaceholderAttrs {
  DType dtype;
  Shape shape;
  friend bool operator==(const PlaceholderAttrs&, const PlaceholderAttrs&) = default;
};

struct ConstAttrs {
  Tensor value;  // row-major on the host; never written
  // Same type, shape and bytes.
  friend bool operator==(const ConstAttrs& a, const ConstAttrs& b) {
    return a.value.desc() == b.value.desc() && std::memcmp(a.value.raw(), b.value.raw(), a.value.byte_size()) == 0;
  }
};

// Fill: every element is "value", converted to dtype.
struct FillAttrs {
  DType dtype;
  Shape shape;
  double value = 0;
  friend bool operator==(const FillAttrs&, const FillAttrs&) = default;
};

struct VariableAttrs {
  DType dtype;
  Shape shape;
  friend bool operator==(const VariableAttrs&, const VariableAttrs&) = default;
};

struct CastAttrs {
  DType to;
  friend bool operator==(const CastAttrs&, const CastAttrs&) = default;
};

// Reshape, BroadcastTo: the target shape.
struct ShapeAttrs {
  Shape shape;
  friend bool operator==(const ShapeAttrs&, const ShapeAttrs&) = default;
};

// Transpose: output axis i is input axis perm[i].
struct TransposeAttrs {
  std::vector<int> perm;
  friend bool operator==(const TransposeAttrs&, const TransposeAttrs&) = default;
};

// ExpandDims, Concat, Pack, ArgMax: one axis, already made non-negative.
struct AxisAttrs {
  int axis = 0;
  friend bool operator==(const AxisAttrs&, const AxisAttrs&) = default;
};

// Split: the sizes of the pieces along the axis.
struct SplitAttrs {
  int axis = 0;
  std::vector<int64_t> sizes;
  friend bool operator==(const SplitAttrs&, const SplitAttrs&) = default;
};

// Unbucket: the shapes of the tensors in the bucket, in order.
struct BucketAttrs {
  std::vector<Shape> shapes;
  friend bool operator==(const BucketAttrs&, const BucketAttrs&) = default;
};

// Squeeze: the removed axes, ascending.
struct SqueezeAttrs {
  std::vector<int> axes;
  friend bool operator==(const SqueezeAttrs&, const SqueezeAttrs&) = default;
};

struct SliceAttrs {
  std::vector<int64_t> begin, size;
  friend bool operator==(const SliceAttrs&, const SliceAttrs&) = default;
};

// Pad, MirrorPadGrad: elements before and after each axis.
struct PadAttrs {
  std::vector<std::pair<int64_t, int64_t>> paddings;
  PadMode mode = PadMode::kConstant;
  double constant = 0;
  friend bool operator==(const PadAttrs&, const PadAttrs&) = default;
};

struct TileAttrs {
  std::vector<int64_t> multiples;
  friend bool operator==(const TileAttrs&, const TileAttrs&) = default;
};

// Sum, Mean, Max, Min: reduced axes, non-negative and ascending.
struct ReduceAttrs {
  std::vector<int> axes;
  bool keep_dims = false;
  friend bool operator==(const ReduceAttrs&, const ReduceAttrs&) = default;
};

struct MatMulAttrs {
  bool transpose_a = false, transpose_b = false;
  Activation activation = Activation::kNone;  // _FusedMatMul only
  friend bool operator==(const MatMulAttrs&, const MatMulAttrs&) = default;
};

// Conv2D and DepthwiseConv2dNative with their gradients. Heights come before widths. A Conv2D whose filter has fewer
// input channels than the input is grouped, as in TensorFlow.
struct ConvAttrs {
  std::array<int64_t, 2> strides{1, 1};
  std::array<int64_t, 2> dilations{1, 1};
  Padding padding = Padding::kSame;
  std::array<int64_t, 4> explicit_paddings{};  // top, bottom, left, right; read only when padding is kExplicit
  DataFormat data_format = DataFormat::kNHWC;
  Shape target_shape;                         // gradients only: the shape of the input or filter they produce
  Activation activation = Activation::kNone;  // _FusedConv2D only
  friend bool operator==(const ConvAttrs&, const ConvAttrs&) = default;
};

struct PoolAttrs {
  std::array<int64_t, 2> ksize{1, 1};
  std::array<int64_t, 2> strides{1, 1};
  Padding padding = Padding::kValid;
  std::array<int64_t, 4> explicit_paddings{};
  DataFormat data_format = DataFormat::kNHWC;
  Shape target_shape;  // AvgPoolGrad only: the shape of the pooled input
  friend bool operator==(const PoolAttrs&, const PoolAttrs&) = default;
};

struct BatchNormAttrs {
  double epsilon = 1e-4;
  bool is_training = true;
  DataFormat data_format = DataFormat::kNHWC;
  Activation activation = Activation::kNone;  // the fused kinds only
  bool has_side_input = false;                // the fused kinds only
  friend bool operator==(const BatchNormAttrs&, const BatchNormAttrs&) = default;
};

struct BiasAddAttrs {
  DataFormat data_format = DataFormat::kNHWC;
  friend bool operator==(const BiasAddAttrs&, const BiasAddAttrs&) = default;
};

// y = x / (bias + alpha * sum of x^2 over 2*depth_radius+1 channels)^beta, along the last axis.
struct LRNAttrs {
  int depth_radius = 5;
  double bias = 1, alpha = 1, beta = 0.5;
  DataFormat data_format = DataFormat::kNHWC;
  friend bool operator==(const LRNAttrs&, const LRNAttrs&) = default;
};

// TopK, InTopK.
struct TopKAttrs {
  int k = 1;
  friend bool operator==(const TopKAttrs&, const TopKAttrs&) = default;
};

struct OneHotAttrs {
  int64_t depth = 0;
  double on_value = 1, off_value = 0;
  DType dtype = DType::kFloat32;
  friend bool operator==(const OneHotAttrs&, const OneHotAttrs&) = default;
};

// The random operations. The stream is keyed by (graph seed, this seed, node name, step, element).
// minval and maxval belong to RandomUniformInt: integers in [minval, maxval).
struct RandomAttrs {
  DType dtype = DType::kFloat32;
  Shape shape;
  int64_t seed = 0;
  int64_t minval = 0, maxval = 0;
  friend bool operator==(const RandomAttrs&, const RandomAttrs&) = default;
};

// The Apply* operations. has_weight_decay (set by the compiler): one more scalar input at the end, and the gradient
// used is grad + weight_decay * var.
struct ApplyAttrs {
  bool use_nesterov = false;
  bool has_weight_decay = false;
  friend bool operator==(const ApplyAttrs&, const ApplyAttrs&) = default;
};

// _Send, _Recv: the channel's number in the plan, and for _Recv what arrives.
struct ChannelAttrs {
  int channel = -1;
  TensorDesc desc;
  friend bool operator==(const ChannelAttrs&, const ChannelAttrs&) = default;
};

// CollectiveReduce: which sum the node takes part in. Nodes of one instance have one size and scale, and ranks from 0
// on.
struct CollectiveAttrs {
  std::string instance;
  int size = 0, rank = 0;
  double scale = 1;  // of the sum: 1/size for a mean
  friend bool operator==(const CollectiveAttrs&, const CollectiveAttrs&) = default;
};

// X(Name) for each of the structs above but NoAttrs, which comes first.
// clang-format off
#define MUSTER_ATTRS(X)                                                                                  \
  X(PlaceholderAttrs) X(ConstAttrs) X(FillAttrs) X(VariableAttrs) X(CastAttrs) X(ShapeAttrs)             \
  X(TransposeAttrs) X(AxisAttrs) X(SplitAttrs) X(SqueezeAttrs) X(SliceAttrs) X(PadAttrs) X(TileAttrs)    \
  X(ReduceAttrs) X(MatMulAttrs) X(ConvAttrs) X(PoolAttrs) X(BatchNormAttrs) X(BiasAddAttrs) X(LRNAttrs)  \
  X(TopKAttrs) X(OneHotAttrs) X(RandomAttrs) X(ApplyAttrs) X(ChannelAttrs) X(BucketAttrs) X(CollectiveAttrs)
// clang-format on

template <typename A>
inline constexpr bool kIsAttrs = false;
#define MUSTER_IS_ATTRS(A) \
  template <>              \
  inline constexpr bool kIsAttrs<A> = true;
MUSTER_IS_ATTRS(NoAttrs)
MUSTER_ATTRS(MUSTER_IS_ATTRS)
#undef MUSTER_IS_ATTRS

// The attributes of one node: one of the structs above. A value; NoAttrs at first and after a move. It hides a variant
// whose copies, comparisons and destruction, each with code for every struct, are compiled in attrs.cc and not again in
// every file that sees a node.
class Attrs {
 public:
  Attrs();
  template <typename A>
  requires kIsAttrs<A> Attrs(A attrs);
  Attrs(const Attrs& other);
  Attrs(Attrs&& other) noexcept;
  Attrs& operator=(const Attrs& other);
  Attrs& operator=(Attrs&& other) noexcept;
  ~Attrs();

  // Throws std::bad_variant_access if they are of another kind.
  template <typename A>
  const A& get() const;
  template <typename A>
  A& get();
  // nullptr if they are of another kind.
  template <typename A>
  const A* get_if() const;
  template <typename A>
  A* get_if();

  // For std::visit, in the few files that treat all kinds.
#define MUSTER_COMMA_ATTRS(A) , A
  using Variant = std::variant<NoAttrs MUSTER_ATTRS(MUSTER_COMMA_ATTRS)>;
#undef MUSTER_COMMA_ATTRS
  const Variant& variant() const;

  friend bool operator==(const Attrs& a, const Attrs& b);

 private:
  std::unique_ptr<Variant> value_;  // null: NoAttrs
};

}  // namespace muster
