// Sum, Mean, Max, Min over any axes, L2Loss and BiasAddGrad. A reduction runs in stages: each reduces the middle of
// [outer, reduced, inner], the innermost group of axes first. Pieces are fixed by the shapes, so results do not depend
// on the number of threads.
#include <algorithm>
#include <limits>

#include "backend/cpu/kernels.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/reduce_simd.h"
#include "base/check.h"
#include "core/convert.h"

namespace muster::cpu {
namespace {

constexpr int64_t kRunPiece = 4096;          // values summed in single precision
constexpr int64_t kRowsPiece = 256;          // rows summed in single precision
constexpr int64_t kChunkBytes = 128 * 1024;  // work of one piece that a thread takes
constexpr int64_t kMaxChunks = 64;
constexpr int64_t kFoldedWidth = 128;  // see Stage::fold
constexpr int64_t kWidthPadding = 16;

double Start(Reduction r) {
  if (r == Reduction::kMax) return -std::numeric_limits<double>::infinity();
  return r == Reduction::kMin ? std::numeric_limits<double>::infinity() : 0;
}

// Sums add up; extremes keep the better one, or a NaN.
double Combined(Reduction r, double a, double b) {
  if (r == Reduction::kSum || r == Reduction::kSumOfSquares) return a + b;
  return (r == Reduction::kMax ? b > a : b < a) || b != b ? b : a;
}

// One stage: x [outer, reduced, inner] to y [outer, inner].
struct Stage {
  int64_t outer = 1, reduced = 1, inner = 1;
  // inner > 1 only. "fold" rows are seen as one, which fills the vectors when inner is small; chunks share out the
  // rows.
  int64_t fold = 1, chunks = 1;

  Stage(int64_t outer_, int64_t reduced_, int64_t inner_) : outer(outer_), reduced(reduced_), inner(inner_) {
    if (inner == 1) {
      chunks = std::clamp<int64_t>((reduced + kRunPiece * 8 - 1) / (kRunPiece * 8), 1, kMaxChunks);
    } else {
      while (reduced / fold % 2 == 0 && inner * fold * 2 <= kFoldedWidth) fold *= 2;
      if (outer < kMaxChunks) chunks = std::clamp<int64_t>(reduced * inner * 4 / kChunkBytes, 1, kMaxChunks);
    }
  }

  int64_t width() const { return inner * fold; }
  int64_t padded() const { return (width() + kWidthPadding - 1) / kWidthPadding * kWidthPadding; }
  int64_t out_size() const { return outer * inner; }
  int64_t bytes() const { return outer * reduced * inner * static_cast<int64_t>(sizeof(float)); }
  // Per (outer, chunk): "padded" sums in double, then as many in single precision.
  int64_t piece_doubles() const { return padded() + padded() / 2; }
  int64_t workspace_bytes() const { return outer * chunks * piece_doubles() * static_cast<int64_t>(sizeof(double)); }
};

template <typename From>
class StageRunner {
 public:
  StageRunner(const Stage& stage, Reduction reduction, const From* x, void* workspace)
      : s_(stage),
        reduction_(reduction),
        loops_(GetReduceSimd<From>()[reduction]),
        x_(x),
        pieces_(static_cast<double*>(workspace)) {}

  // Scales the result by "factor".
  template <typename To>
  void Run(double factor, To* y, int threads) const {
    const bool small = s_.bytes() <= 2 * kGrainBytes;
    ParallelItems(threads, s_.outer * s_.chunks, small, [&](int64_t i) { s_.inner == 1 ? Values(i) : Rows(i); });
    ParallelFor(small ? 1 : threads, s_.out_size(), GrainFor(s_.chunks * s_.fold * 16),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i)
                    y[i] = Convert<To>(static_cast<float>(Total(i / s_.inner, i % s_.inner) * factor));
                });
  }

 private:
  double* Piece(int64_t i) const { return pieces_ + i * s_.piece_doubles(); }

  // Piece i of a reduction to one value per outer index.
  void Values(int64_t i) const {
    const int64_t outer = i / s_.chunks, chunk = i % s_.chunks;
    const int64_t end = s_.reduced * (chunk + 1) / s_.chunks;
    double total = Start(reduction_);
    for (int64_t k = s_.reduced * chunk / s_.chunks; k < end; k += kRunPiece)
      total = Combined(reduction_, total,
                       static_cast<double>(loops_.run(x_ + outer * s_.reduced + k, std::min(kRunPiece, end - k))));
    Piece(i)[0] = total;
  }

  // Piece i of a reduction to "inner" values per outer index.
  void Rows(int64_t i) const {
    const int64_t outer = i / s_.chunks, chunk = i % s_.chunks, rows = s_.reduced / s_.fold, width = s_.width();
    double* totals = Piece(i);
    float* sums = reinterpret_cast<float*>(totals + s_.padded());
    std::fill_n(totals, width, Start(reduction_));
    const int64_t end = rows * (chunk + 1) / s_.chunks;
    for (int64_t r = rows * chunk / s_.chunks; r < end; r += kRowsPiece) {
      std::fill_n(sums, width, static_cast<float>(Start(reduction_)));
      loops_.rows(x_ + (outer * rows + r) * width, std::min(kRowsPiece, end - r), width, sums);
      for (int64_t j = 0; j < width; ++j) totals[j] = Combined(reduction_, totals[j], static_cast<double>(sums[j]));
    }
  }

  double Total(int64_t outer, int64_t inner) const {
    double total = Start(reduction_);
    for (int64_t chunk = 0; chunk < s_.chunks; ++chunk)
      for (int64_t f = 0; f < s_.fold; ++f)
        total = Combined(reduction_, total, Piece(outer * s_.chunks + chunk)[f * s_.inner + inner]);
    return total;
  }

  const Stage& s_;
  const Reduction reduction_;
  const ReduceLoops<From>& loops_;
  const From* const x_;
  double* const pieces_;
};

// The stages of a reduction, innermost first.
std::vector<Stage> StagesOf(const Shape& x, const std::vector<int>& axes) {
  std::vector<bool> reduced(static_cast<size_t>(x.rank()));
  for (int axis : axes) reduced[static_cast<size_t>(axis)] = true;
  std::vector<Stage> stages;
  int64_t inner = 1, outer = x.num_elements();
  for (int axis = x.rank() - 1; axis >= 0;) {
    int64_t size = 1;
    const bool is_reduced = reduced[static_cast<size_t>(axis)];
    for (; axis >= 0 && reduced[static_cast<size_t>(axis)] == is_reduced; --axis) size *= x[axis];
    outer /= std::max<int64_t>(size, 1);
    if (is_reduced) stages.emplace_back(outer, size, inner);
    else inner *= size;
  }
  return stages;
}

// Sum over nothing is 0, as Mean's is NaN and Max's -infinity.
template <typename To>
std::unique_ptr<Kernel> ReduceNothing(Reduction reduction, double factor, int64_t size) {
  return MakeKernel([=](const LaunchArgs& a) {
    std::fill_n(a.out<To>(0), size, Convert<To>(static_cast<float>(Start(reduction) * factor)));
  });
}

int64_t Aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// What is reduced, how, and to what.
struct ReductionRequest {
  Reduction reduction = Reduction::kSum;
  double factor = 1;  // of the result
  DType from = DType::kFloat32, to = DType::kFloat32;
  int64_t out_size = 1;
  int threads = 1;
};

// Runs the stages, each from the one before's result; results between stages are single precision.
template <typename From, typename To>
std::unique_ptr<Kernel> RunStages(std::vector<Stage> stages, const ReductionRequest& r, int64_t pieces,
                                  int64_t between) {
  return MakeKernel([=, stages = std::move(stages)](const LaunchArgs& a) {
    char* results = static_cast<char*>(a.workspace) + pieces;
    const float* previous = nullptr;
    for (size_t i = 0; i < stages.size(); ++i) {
      float* result = reinterpret_cast<float*>(results + (i % 2 == 0 ? 0 : between));
      // Squares are taken once.
      const Reduction reduction = i > 0 && r.reduction == Reduction::kSumOfSquares ? Reduction::kSum : r.reduction;
      const auto run = [&](const auto& runner) {
        i + 1 == stages.size() ? runner.Run(r.factor, a.out<To>(0), r.threads) : runner.Run(1, result, r.threads);
      };
      i == 0 ? run(StageRunner<From>(stages[i], reduction, a.in<From>(0), a.workspace))
             : run(StageRunner<float>(stages[i], reduction, previous, a.workspace));
      previous = result;
    }
  });
}

template <typename From, typename To>
PreparedKernel PrepareStages(std::vector<Stage> stages, const ReductionRequest& r) {
  if (stages.empty()) return {ReduceNothing<To>(r.reduction, r.factor, r.out_size)};
  // Workspace: the pieces of the largest stage, then room for two results between stages.
  int64_t pieces = 0, between = 0;
  for (const Stage& s : stages) {
    pieces = std::max(pieces, Aligned(s.workspace_bytes()));
    between = std::max(between, Aligned(s.out_size() * static_cast<int64_t>(sizeof(float))));
  }
  if (stages.size() == 1) between = 0;
  return {RunStages<From, To>(std::move(stages), r, pieces, between), pieces + 2 * between};
}

PreparedKernel PrepareStages(std::vector<Stage> stages, const ReductionRequest& r) {
  if (r.from == DType::kFloat32) return PrepareStages<float, float>(std::move(stages), r);
  return r.to == DType::kFloat32 ? PrepareStages<BFloat16, float>(std::move(stages), r)
                                 : PrepareStages<BFloat16, BFloat16>(std::move(stages), r);
}

PreparedKernel PrepareOver(const KernelRequest& r, const std::vector<int>& axes, Reduction reduction,
                           const DeviceCaps& caps) {
  int64_t count = 1;
  for (int axis : axes) count *= r.in(0)[axis];
  const double factor = r.kind == OpKind::kMean ? 1 / static_cast<double>(count) : 1;
  std::vector<Stage> stages;
  if (r.in(0).num_elements() > 0) {
    stages = StagesOf(r.in(0), axes);
    if (stages.empty()) stages.emplace_back(1, 1, r.in(0).num_elements());
  }
  return PrepareStages(std::move(stages), {reduction, factor, r.inputs[0].dtype, r.outputs[0].dtype,
                                           r.out(0).num_elements(), caps.threads});
}

}  // namespace

PreparedKernel PrepareReduction(const KernelRequest& r, const DeviceCaps& caps) {
  const Reduction reduction = r.kind == OpKind::kMax   ? Reduction::kMax
                              : r.kind == OpKind::kMin ? Reduction::kMin
                                                       : Reduction::kSum;
  return PrepareOver(r, r.attr<ReduceAttrs>().axes, reduction, caps);
}

// Half the sum of squares; the padding of an opaque form adds nothing.
PreparedKernel PrepareL2Loss(const KernelRequest& r, const DeviceCaps& caps) {
  const int64_t size = ValuesIn(r.inputs[0]);
  std::vector<Stage> stages;
  if (size > 0) stages.emplace_back(1, size, 1);
  return PrepareStages(std::move(stages),
                       {Reduction::kSumOfSquares, 0.5, r.inputs[0].dtype, r.outputs[0].dtype, 1, caps.threads});
}

PreparedKernel PrepareBiasAddGrad(const KernelRequest& r, const DeviceCaps& caps) {
  MUSTER_CHECK(r.attr<BiasAddAttrs>().data_format == DataFormat::kNHWC);
  std::vector<int> axes;
  for (int axis = 0; axis + 1 < r.in(0).rank(); ++axis) axes.push_back(axis);
  return PrepareOver(r, axes, Reduction::kSum, caps);
}

}  // namespace muster::cpu
