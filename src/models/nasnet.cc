// NASNet-A (Zoph et al. 2017), with TF-slim's names. Like tf_cnn_benchmarks' it is built from slim's plain layers, not
// from the paper's: every convolution has biases and a ReLU, and a batch norm without gamma follows it. No auxiliary
// head.

#include <array>

#include <fmt/format.h>

#include "models/zoo.h"
#include "muster/ops/math.h"
#include "muster/ops/state.h"

namespace muster::zoo {
namespace {

struct Config {
  int cells;        // normal ones; a reduction cell comes before the second and the last third of them
  int64_t filters;  // of the first cells
  int64_t stem_filters;
  bool imagenet_stem;          // a strided convolution and two reduction cells; otherwise one convolution
  bool skips_reduction_input;  // the cell behind a reduction cell sees what that one saw, not its neighbour's output
  double keep_prob;            // of paths, in the last cell at the end of training; 1: all are kept
  int64_t total_steps;         // over which paths are dropped more and more
};
constexpr Config kMobile{12, 44, 32, true, false, 1.0, 250000};
constexpr Config kLarge{18, 168, 96, true, true, 0.7, 250000};
constexpr Config kCifar{18, 32, 96, false, false, 0.6, 937500};

// What happens to a state before two of them are added. Separable convolutions come twice in a row.
enum class Operation : uint8_t { kSeparable3, kSeparable5, kSeparable7, kAvgPool, kMaxPool, kNone };

struct Operand {
  size_t state;  // 0: the cell's input, 1: the input of the cell before, 2 …: results of combinations
  Operation operation;
};
struct CellPlan {
  std::array<std::array<Operand, 2>, 5> combinations;
  size_t first_output;  // states from here on make up the cell's output
};

using enum Operation;
constexpr CellPlan kNormalCell{{{{{{0, kSeparable5}, {1, kSeparable3}}},
                                 {{{1, kSeparable5}, {1, kSeparable3}}},
                                 {{{0, kAvgPool}, {1, kNone}}},
                                 {{{1, kAvgPool}, {1, kAvgPool}}},
                                 {{{0, kSeparable3}, {0, kNone}}}}},
                               1};
constexpr CellPlan kReductionCell{{{{{{0, kSeparable5}, {1, kSeparable7}}},
                                    {{{0, kMaxPool}, {1, kSeparable7}}},
                                    {{{0, kAvgPool}, {1, kSeparable5}}},
                                    {{{3, kNone}, {2, kAvgPool}}},
                                    {{{2, kSeparable3}, {0, kMaxPool}}}}},
                                  3};

class Builder {
 public:
  Builder(ModelBuilder& b, const Config& config) : b_(b), config_(config) {}

  Output Build(Output x) {
    std::vector<Output> outputs = Stem(x);
    int64_t filters = config_.filters;
    for (int cell = 0; cell < config_.cells; ++cell) {
      Output before = outputs[outputs.size() - 2];
      if (cell == config_.cells / 3 || cell == 2 * config_.cells / 3) {
        filters *= 2;
        const std::string name = fmt::format("reduction_cell_{}", cell == config_.cells / 3 ? 0 : 1);
        outputs.push_back(Cell(kReductionCell, name, outputs.back(), before, filters, 2));
        if (!config_.skips_reduction_input) before = outputs[outputs.size() - 2];
      }
      outputs.push_back(Cell(kNormalCell, fmt::format("cell_{}", cell), outputs.back(), before, filters, 1));
    }
    return b_.SpatialMean(b_.Relu(outputs.back()));
  }

 private:
  // The outputs of the stem's layers, an invalid one for what comes before the first.
  std::vector<Output> Stem(Output x) {
    if (!config_.imagenet_stem) {
      x = b_.Conv(x, config_.stem_filters, 3, 3, {.name = "l1_stem_3x3"});
      return {Output{}, b_.BatchNorm(x, {}, "l1_stem_bn")};
    }
    x = b_.Conv(x, config_.stem_filters, 3, 3, {.strides = {2, 2}, .padding = ConvPadding::kValid, .name = "conv0"});
    std::vector<Output> outputs{Output{}, b_.BatchNorm(x, {}, "conv0_bn")};
    for (int i = 0; i < 2; ++i)
      outputs.push_back(Cell(kReductionCell, fmt::format("cell_stem_{}", i), outputs.back(),
                             outputs[outputs.size() - 2], config_.filters >> (2 - i), 2));
    return outputs;
  }

  Output Cell(const CellPlan& plan, const std::string& name, Output x, Output before, int64_t filters, int64_t stride) {
    filters_ = filters;
    keep_prob_ = KeepProbOfNextCell();
    return b_.Within(name, [&] {
      // The order in which variables are made is the checkpoints'.
      const Output fitted = FitBefore(before, x);
      std::vector<Output> states{ReluConvNorm(x, "1x1", "beginning_bn"), fitted};
      for (size_t i = 0; i < plan.combinations.size(); ++i) {
        states.push_back(b_.Within(fmt::format("comb_iter_{}", i), [&] {
          const auto side = [&](const char* side_name, const Operand& operand) {
            const int64_t own_stride = operand.state < 2 ? stride : 1;
            return b_.Within(side_name, [&] { return Apply(operand.operation, states[operand.state], own_stride); });
          };
          const Output left = side("left", plan.combinations[i][0]);
          return b_.Add(left, side("right", plan.combinations[i][1]));
        }));
      }
      return b_.Within("cell_output", [&] { return Combine(states, plan.first_output); });
    });
  }

  // The output of the cell before the last, brought to this cell's size and filters.
  Output FitBefore(Output before, Output x) {
    if (!before.is_valid()) return x;
    if (SizeOf(before) != SizeOf(x)) return b_.FactorizedReduction(b_.Relu(before), filters_, 2);
    return b_.channels(before) == filters_ ? before : ReluConvNorm(before, "prev_1x1", "prev_bn");
  }

  Output Apply(Operation operation, Output x, int64_t stride) {
    switch (operation) {
      case kSeparable3: return DropPath(SeparableTwice(x, 3, stride));
      case kSeparable5: return DropPath(SeparableTwice(x, 5, stride));
      case kSeparable7: return DropPath(SeparableTwice(x, 7, stride));
      case kAvgPool:
      case kMaxPool: return DropPath(Pool(operation, x, stride));
      default: return stride > 1 || b_.channels(x) != filters_ ? ReluConvNorm(x, "1x1", "bn_1", stride) : x;
    }
  }

  Output SeparableTwice(Output x, int64_t size, int64_t stride) {
    for (int i = 1; i <= 2; ++i, stride = 1) {
      const std::string kind = fmt::format("{0}x{0}_{1}", size, i);
      x = b_.SeparableConv(b_.Relu(x), filters_, size, size,
                           {.strides = {stride, stride}, .name = "separable_" + kind});
      x = b_.BatchNorm(x, {}, "bn_sep_" + kind);
    }
    return x;
  }

  Output Pool(Operation operation, Output x, int64_t stride) {
    const PoolOptions options{.strides = {stride, stride}, .padding = Padding::kSame};
    x = operation == kAvgPool ? b_.AvgPool(x, 3, 3, options) : b_.MaxPool(x, 3, 3, options);
    return b_.channels(x) == filters_ ? x : ConvNorm(x, "1x1", "bn_1", 1);
  }

  // The states from "first" on side by side, those of another size or width reduced before.
  Output Combine(const std::vector<Output>& states, size_t first) {
    std::vector<Output> parts(states.begin() + static_cast<std::ptrdiff_t>(first), states.end());
    const Output last = states.back();
    for (size_t i = 0; i < parts.size(); ++i) {
      const bool same_size = SizeOf(parts[i]) == SizeOf(last);
      if (same_size && b_.channels(parts[i]) == b_.channels(last)) continue;
      parts[i] = b_.Within(fmt::format("reduction_{}", first + i),
                           [&] { return b_.FactorizedReduction(parts[i], b_.channels(last), same_size ? 1 : 2); });
    }
    return b_.Concat(parts);
  }

  Output ConvNorm(Output x, const char* conv, const char* norm, int64_t stride) {
    return b_.BatchNorm(b_.Conv(x, filters_, 1, 1, {.strides = {stride, stride}, .name = conv}), {}, norm);
  }
  Output ReluConvNorm(Output x, const char* conv, const char* norm, int64_t stride = 1) {
    return ConvNorm(b_.Relu(x), conv, norm, stride);
  }

  Output DropPath(Output x) { return keep_prob_.is_valid() ? b_.DropPath(x, keep_prob_) : x; }

  // 1 - done (cell / cells) (1 - keep_prob): dropping grows with depth and with time. Invalid where nothing is dropped.
  Output KeepProbOfNextCell() {
    const int cell = ++cells_built_, all_cells = config_.cells + 2 + (config_.imagenet_stem ? 2 : 0);
    if (config_.keep_prob == 1 || !b_.drops()) return {};
    if (!done_.is_valid()) done_ = ShareOfTrainingDone();
    const Scope scope = b_.scope().WithName("keep_prob");
    const Output dropped = ops::Mul(scope, done_, Number(scope, (1 - config_.keep_prob) * cell / all_cells));
    return ops::Sub(scope, Number(scope, 1), dropped);
  }

  // min(1, global step / total steps), computed beside the global step and sent to the devices that ask.
  Output ShareOfTrainingDone() const {
    const Scope scope = b_.scope().WithName("training_done").WithDevice("/device:CPU:0");
    const Output step = ops::Cast(scope, GlobalStep(scope), DType::kFloat32);
    const Output total = Number(scope, static_cast<double>(config_.total_steps));
    return ops::Minimum(scope, ops::Div(scope, step, total), Number(scope, 1));
  }

  static Output Number(const Scope& scope, double value) { return ops::ScalarLike(scope, value, DType::kFloat32); }

  int64_t SizeOf(Output x) const { return b_.scope().shape(x)[2]; }

  ModelBuilder& b_;
  const Config config_;
  int64_t filters_ = 0;  // of the cell being built
  Output keep_prob_;     // of its paths
  Output done_;          // how far training is
  int cells_built_ = 0;
};

Output Nasnet(ModelBuilder& b, Output x, const Config& config) {
  return b.UsingLibrary(LayerLibrary::kSlim, [&] { return Builder(b, config).Build(x); });
}

}  // namespace

Output NasnetMobile(ModelBuilder& b, Output x) { return Nasnet(b, x, kMobile); }
Output NasnetLarge(ModelBuilder& b, Output x) { return Nasnet(b, x, kLarge); }
Output NasnetCifar(ModelBuilder& b, Output x) { return Nasnet(b, x, kCifar); }

}  // namespace muster::zoo
