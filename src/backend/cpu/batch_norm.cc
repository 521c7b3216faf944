#include <cmath>

#include "backend/cpu/batch_norm_plan.h"
#include "backend/cpu/kernels.h"
#include "base/check.h"
#include "core/convert.h"

namespace muster::cpu {
namespace {

// Outputs larger than this are written past the caches: they would be gone before anybody reads them.
constexpr int64_t kStreamBytes = int64_t{4} << 20;

// The tables of both directions (see BatchNormForwardArgs, BatchNormBackwardArgs).
enum Table { kMean, kFactor, kOffset, kShift, kSlope = kShift, kBias };

// Rows whose average stands in for the mean while variances are summed. Sums of squares around a value far from the
// mean lose digits; around the average of 16 samples the loss is at most a factor of n/256 in the last digit of one
// kRowsPerSum block, even if one of the samples is the only outlier among n.
constexpr int64_t kShiftRows = 16;

int64_t RowsOf(const Shape& x) {
  int64_t rows = 1;
  for (int i = 0; i + 1 < x.rank(); ++i) rows *= x[i];
  return rows;
}

// The plain kinds have neither activation nor side input, whatever the attributes say.
BatchNormAttrs AttrsOf(const KernelRequest& r) {
  BatchNormAttrs attrs = r.attr<BatchNormAttrs>();
  if (r.kind == OpKind::kFusedBatchNorm || r.kind == OpKind::kFusedBatchNormGrad) {
    attrs.activation = Activation::kNone;
    attrs.has_side_input = false;
  }
  return attrs;
}

// What both directions have in common. T: of the activations and their gradients.
template <typename T>
class BatchNormKernel : public Kernel {
 public:
  BatchNormKernel(const KernelRequest& r, const Shape& x, int threads)
      : attrs_(AttrsOf(r)),
        plan_(RowsOf(x), x[x.rank() - 1], kElementBytes),
        threads_(threads),
        streams_(x.num_elements() * kElementBytes >= kStreamBytes && plan_.channels * kElementBytes % 64 == 0) {
    MUSTER_CHECK(attrs_.data_format == DataFormat::kNHWC);
  }
  int64_t workspace_bytes() const { return BatchNormScratch::Bytes(plan_); }

 protected:
  static constexpr auto kElementBytes = static_cast<int64_t>(sizeof(T));

  double rows() const { return static_cast<double>(plan_.real_rows()); }

  // Writes a channel's value into a table, once for each folded row.
  void Spread(float* table, int64_t channel, double value) const {
    for (int64_t f = 0; f < plan_.fold; ++f) table[f * plan_.real_channels + channel] = static_cast<float>(value);
  }

  const BatchNormAttrs attrs_;
  const BatchNormPlan plan_;
  const int threads_;
  const bool streams_;
  const BatchNormSimd<T>& simd_ = GetBatchNormSimd<T>();
};

// inputs x, scale, offset, mean, variance[, side]; outputs y, batch_mean, batch_variance, reserve_mean,
// reserve_inv_std. Asked for y alone, a batch norm is done again: inputs 3 and 4 are then the reserve_mean and
// reserve_inv_std that the first time left, and y gets the bits it had.
template <typename T>
class ForwardKernel final : public BatchNormKernel<T> {
  using Base = BatchNormKernel<T>;
  using Base::attrs_, Base::plan_, Base::threads_, Base::streams_, Base::simd_, Base::rows, Base::Spread;
  using Args = BatchNormForwardArgs<T>;

 public:
  ForwardKernel(const KernelRequest& r, int threads) : Base(r, r.in(0), threads), is_redone_(r.outputs.size() == 1) {}

  void Launch(const LaunchArgs& a) override {
    const BatchNormScratch scratch(plan_, a.workspace);
    const Args f = Bind(a, scratch);
    const auto normalise = [&](int64_t chunk) { Normalise(f, chunk); };
    const auto finish = [&](int64_t begin, int64_t end) { Finish(a, scratch, begin, end); };
    if (attrs_.is_training && !is_redone_) {
      ParallelFor(threads_, plan_.real_channels, GrainFor(kShiftRows * 64),
                  [&](int64_t begin, int64_t end) { FindShift(f.x, scratch, begin, end); });
      RunBatchNorm(
          plan_, threads_, [&](int64_t chunk) { Sum(scratch, f, chunk); }, finish, normalise);
    } else {
      finish(0, plan_.real_channels);
      ParallelItems(threads_, plan_.chunks, plan_.small, normalise);
    }
  }

 private:
  Args Bind(const LaunchArgs& a, const BatchNormScratch& scratch) const {
    const auto table = [&](Table t) { return scratch.table(plan_, t); };
    Args f{a.in<T>(0),  attrs_.has_side_input ? a.in<T>(5) : nullptr, table(kMean), table(kFactor), table(kOffset),
           a.out<T>(0), attrs_.activation == Activation::kRelu,       streams_};
    if (f.y == f.x || f.y == f.side) f.stream = false;  // in place: its lines are in the cache already
    return f;
  }

  // The average of some rows, spread evenly.
  void FindShift(const T* x, const BatchNormScratch& scratch, int64_t begin, int64_t end) const {
    const int64_t rows = plan_.real_rows(), samples = std::min(kShiftRows, rows);
    float* shift = scratch.table(plan_, kShift);
    for (int64_t c = begin; c < end; ++c) {
      double sum = 0;
      for (int64_t i = 0; i < samples; ++i) sum += Convert<double>(x[i * rows / samples * plan_.real_channels + c]);
      Spread(shift, c, samples > 0 ? sum / static_cast<double>(samples) : 0);
    }
  }

  void Sum(const BatchNormScratch& scratch, const Args& f, int64_t chunk) const {
    const float* shift = scratch.table(plan_, kShift);
    SumPiece(plan_, scratch, chunk, [&](const BatchNormTile& tile, int64_t row, float* sum, float* square) {
      simd_.moments(tile, f.x + row * plan_.channels, shift, sum, square);
    });
  }

  // Statistics of channels [begin, end): the batch's own, or the given ones.
  void Finish(const LaunchArgs& a, const BatchNormScratch& scratch, int64_t begin, int64_t end) const {
    if (is_redone_) {
      for (int64_t c = begin; c < end; ++c)
        FillTables(a, scratch, c, static_cast<double>(a.in<float>(3)[c]), a.in<float>(4)[c]);
      return;
    }
    const double n = std::max(rows(), 1.0), unbiased = n / std::max(n - 1, 1.0);
    for (int64_t c = begin; c < end; ++c) {
      double mean, variance, reported;
      if (attrs_.is_training) {
        const double off = scratch.Total(plan_, 0, c) / n;
        mean = static_cast<double>(scratch.table(plan_, kShift)[c]) + off;
        variance = std::max(scratch.Total(plan_, 1, c) / n - off * off, 0.0);
        reported = variance * unbiased;
      } else {
        mean = static_cast<double>(a.in<float>(3)[c]);
        reported = variance = static_cast<double>(a.in<float>(4)[c]);
      }
      const float inv_std = static_cast<float>(1 / std::sqrt(variance + attrs_.epsilon));
      const double values[] = {mean, reported, mean, static_cast<double>(inv_std)};
      for (int i = 0; i < 4; ++i)
        if (a.outputs[i + 1] != nullptr) a.out<float>(i + 1)[c] = static_cast<float>(values[i]);
      FillTables(a, scratch, c, mean, inv_std);
    }
  }

  void FillTables(const LaunchArgs& a, const BatchNormScratch& scratch, int64_t c, double mean, float inv_std) const {
    Spread(scratch.table(plan_, kMean), c, mean);
    Spread(scratch.table(plan_, kFactor), c, static_cast<double>(a.in<float>(1)[c] * inv_std));
    Spread(scratch.table(plan_, kOffset), c, static_cast<double>(a.in<float>(2)[c]));
  }

  void Normalise(Args f, int64_t chunk) const {
    if (f.y == nullptr) return;  // only the statistics are read
    const int64_t at = plan_.row(chunk) * plan_.channels;
    f.x += at, f.y += at;
    if (f.side != nullptr) f.side += at;
    simd_.normalise(plan_.tile(chunk), f);
  }

  const bool is_redone_;
};

// inputs dy, x, scale, reserve_mean, reserve_inv_std[, offset, y[, dy2]]; outputs dx, dscale, doffset[, dside].
template <typename T>
class BackwardKernel final : public BatchNormKernel<T> {
  using Base = BatchNormKernel<T>;
  using Base::attrs_, Base::plan_, Base::threads_, Base::streams_, Base::simd_, Base::rows, Base::Spread;
  using Args = BatchNormBackwardArgs<T>;

 public:
  BackwardKernel(const KernelRequest& r, int threads)
      : Base(r, r.in(1), threads), fused_(r.kind == OpKind::k_FusedBatchNormGradEx), has_two_(r.inputs.size() > 7) {}

  void Launch(const LaunchArgs& a) override {
    const BatchNormScratch scratch(plan_, a.workspace);
    const Args b = Bind(a, scratch);
    for (int64_t c = 0; c < plan_.real_channels; ++c) {
      Spread(scratch.table(plan_, kMean), c, static_cast<double>(a.in<float>(3)[c]));
      Spread(scratch.table(plan_, kFactor), c, static_cast<double>(a.in<float>(2)[c] * a.in<float>(4)[c]));
      Spread(scratch.table(plan_, kOffset), c, fused_ ? static_cast<double>(a.in<float>(5)[c]) : 0);
    }
    RunBatchNorm(
        plan_, threads_, [&](int64_t chunk) { Sum(scratch, b, chunk); },
        [&](int64_t begin, int64_t end) { Finish(a, scratch, begin, end); },
        [&](int64_t chunk) { InputGradient(b, chunk); });
  }

 private:
  Args Bind(const LaunchArgs& a, const BatchNormScratch& scratch) const {
    const auto table = [&](Table t) { return scratch.table(plan_, t); };
    Args b{.dy = a.in<T>(0),
           .dy2 = has_two_ ? a.in<T>(7) : nullptr,
           .x = a.in<T>(1),
           .y = fused_ ? a.in<T>(6) : nullptr,
           .mask = ReluMask::kNone,
           .mean = table(kMean),
           .factor = table(kFactor),
           .offset = table(kOffset),
           .slope = table(kSlope),
           .bias = table(kBias),
           .masked_dy = nullptr,
           .dx = a.out<T>(0),
           .stream = streams_};
    // Without a side input the output follows from x, which is read anyway.
    if (fused_ && attrs_.activation == Activation::kRelu)
      b.mask = attrs_.has_side_input ? ReluMask::kFromOutput : ReluMask::kRecomputed;
    if (fused_ && attrs_.has_side_input && !(b.mask == ReluMask::kNone && !has_two_ && a.outputs[3] == a.inputs[0]))
      b.masked_dy = a.out<T>(3);
    // In place: its lines are in the cache already.
    if (b.dx == b.dy || b.dx == b.dy2 || b.dx == b.x || b.dx == b.y) b.stream = false;
    return b;
  }

  static Args Shifted(Args b, int64_t at) {
    b.dy += at, b.x += at;
    if (b.dy2 != nullptr) b.dy2 += at;
    if (b.dx != nullptr) b.dx += at;
    if (b.y != nullptr) b.y += at;
    if (b.masked_dy != nullptr) b.masked_dy += at;
    return b;
  }

  void Sum(const BatchNormScratch& scratch, const Args& b, int64_t chunk) const {
    SumPiece(plan_, scratch, chunk, [&](const BatchNormTile& tile, int64_t row, float* sum, float* product) {
      simd_.gradient_sums(tile, Shifted(b, row * plan_.channels), sum, product);
    });
  }

  // dx = factor * (g - mean(g) - xhat * mean(g * xhat)) with xhat = (x - mean) * inv_std; statistics that were given
  // rather than computed do not depend on x, and only the first term stays.
  void Finish(const LaunchArgs& a, const BatchNormScratch& scratch, int64_t begin, int64_t end) const {
    const double n = std::max(rows(), 1.0);
    for (int64_t c = begin; c < end; ++c) {
      const double sum = scratch.Total(plan_, 0, c), product = scratch.Total(plan_, 1, c);
      const double inv_std = static_cast<double>(a.in<float>(4)[c]);
      const double factor = static_cast<double>(scratch.table(plan_, kFactor)[c]);
      if (a.outputs[1] != nullptr) a.out<float>(1)[c] = static_cast<float>(product * inv_std);
      if (a.outputs[2] != nullptr) a.out<float>(2)[c] = static_cast<float>(sum);
      Spread(scratch.table(plan_, kSlope), c, attrs_.is_training ? factor * inv_std * inv_std * product / n : 0);
      Spread(scratch.table(plan_, kBias), c, attrs_.is_training ? factor * sum / n : 0);
    }
  }

  void InputGradient(const Args& whole, int64_t chunk) const {
    if (whole.dx == nullptr) return;
    Args b = Shifted(whole, plan_.row(chunk) * plan_.channels);
    if (b.masked_dy != nullptr) {  // written by the first pass
      b.dy = b.masked_dy;
      b.dy2 = nullptr;
      b.mask = ReluMask::kNone;
    }
    simd_.gradient_input(plan_.tile(chunk), b);
  }

  const bool fused_, has_two_;
};

template <typename K>
PreparedKernel Prepared(std::unique_ptr<K> kernel, std::vector<std::pair<int, int>> in_place) {
  const int64_t bytes = kernel->workspace_bytes();
  return {std::move(kernel), bytes, std::move(in_place)};
}

}  // namespace

PreparedKernel PrepareBatchNorm(const KernelRequest& r, const DeviceCaps& caps) {
  std::vector<std::pair<int, int>> in_place{{0, 0}};
  if (AttrsOf(r).has_side_input) in_place.push_back({0, 5});
  if (r.inputs[0].dtype == DType::kBFloat16)
    return Prepared(std::make_unique<ForwardKernel<BFloat16>>(r, caps.threads), std::move(in_place));
  return Prepared(std::make_unique<ForwardKernel<float>>(r, caps.threads), std::move(in_place));
}

PreparedKernel PrepareBatchNormGrad(const KernelRequest& r, const DeviceCaps& caps) {
  std::vector<std::pair<int, int>> in_place;
  // The gradient of the side input takes dy's place, so that dx, written later, may take that of x or y.
  const bool has_two = r.inputs.size() > 7;
  if (AttrsOf(r).has_side_input) in_place.push_back({3, 0});
  if (AttrsOf(r).has_side_input && has_two) in_place.push_back({3, 7});
  in_place.push_back({0, 0});
  if (has_two) in_place.push_back({0, 7});
  in_place.push_back({0, 1});
  if (r.inputs[0].dtype == DType::kBFloat16)
    return Prepared(std::make_unique<BackwardKernel<BFloat16>>(r, caps.threads), std::move(in_place));
  return Prepared(std::make_unique<BackwardKernel<float>>(r, caps.threads), std::move(in_place));
}

}  // namespace muster::cpu
