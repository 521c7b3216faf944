#include "backend/cpu/winograd.h"

#include <array>

#include <omp.h>

#include "backend/cpu/parallel.h"
#include "backend/cpu/tile_gemm_simd.h"
#include "backend/cpu/winograd_tiles.h"

namespace muster::cpu {
namespace {

using onednn::ConvExtras;
using onednn::ConvKind;
using onednn::ConvProblem;

// Bytes of transformed tiles that a thread works on at once: half of a second-level cache.
constexpr int64_t kBlockBytes = int64_t{1} << 20;
// Tiles that a thread works on at once at least, because each block of tiles reads the whole transformed filter.
constexpr int64_t kMinBlock = 56;
// Rows of the filter that are transposed at once.
constexpr int64_t kTransposedRows = 16;

// A correlation of stride 1 with a square filter: the forward pass, or the input gradient, which is one of dy with the
// filter turned by 180 degrees and its channels swapped.
struct Correlation {
  int64_t batch, in_h, in_w, in_c, out_h, out_w, out_c, kernel, pad_top, pad_left;
  bool turned;

  WinogradTiles tiles() const { return {batch, out_h, out_w, kernel}; }
};

Correlation CorrelationOf(ConvKind kind, const ConvProblem& p) {
  if (kind == ConvKind::kForward)
    return {p.batch, p.in_h,     p.in_w,        p.in_c,        p.out_h, p.out_w,
            p.out_c, p.kernel_h, p.paddings[0], p.paddings[2], false};
  const int64_t pad_top = p.kernel_h - 1 - p.paddings[0], pad_left = p.kernel_w - 1 - p.paddings[2];
  return {p.batch, p.out_h, p.out_w, p.out_c, p.in_h, p.in_w, p.in_c, p.kernel_h, pad_top, pad_left, true};
}

int64_t BlockOf(const Correlation& c, int64_t tiles, int threads) {
  const int64_t bytes = kWinogradPlanes * (c.in_c + c.out_c) * static_cast<int64_t>(sizeof(float));
  const int64_t most = std::max(kBlockBytes / bytes, kMinBlock);
  const int64_t blocks = RoundUp(CeilDiv(tiles, most), threads);
  return std::max<int64_t>(CeilDiv(tiles, blocks), 1);
}

class CorrelationKernel final : public Kernel {
 public:
  CorrelationKernel(const Correlation& c, const ConvExtras& extras, int threads)
      : simd_(GetWinogradTransformSimd(c.kernel)),
        c_(c),
        extras_(extras),
        threads_(threads),
        tiles_(c.tiles()),
        block_(BlockOf(c, tiles_.count(), threads)),
        in_(block_, c.in_c),
        out_(block_, c.out_c),
        columns_(RoundUp(c.out_c, kGemmPadding)),
        panel_(std::min(gemm_.panel, columns_)),
        filter_plane_(c.in_c * RoundUp(columns_, panel_) + kGemmPadding) {}

  int64_t workspace_bytes() const {
    return static_cast<int64_t>(sizeof(float)) *
           (kWinogradPlanes * filter_plane_ + threads_ * (in_.floats() + out_.floats()));
  }

  void Launch(const LaunchArgs& a) override {
    float* filter = static_cast<float*>(a.workspace);
    TransformFilter(a.in<float>(c_.turned ? 0 : 1), filter);
    const int64_t tiles = tiles_.count();
    ParallelFor(threads_, CeilDiv(tiles, block_), 1, [&](int64_t begin, int64_t end) {
      float* in = filter + kWinogradPlanes * filter_plane_ + omp_get_thread_num() * (in_.floats() + out_.floats());
      for (int64_t b = begin; b < end; ++b)
        Block(a, filter, in, in + in_.floats(), b * block_, std::min((b + 1) * block_, tiles));
    });
  }

 private:
  // The filter's planes lie as the matrix products read them: panels of columns, each [in_c, panel].
  void TransformFilter(const float* filter, float* planes) const {
    if (c_.turned) {
      const int64_t blocks = CeilDiv(c_.in_c, kTransposedRows);
      ParallelFor(threads_, blocks, 1, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) TransformTurned(filter, b * kTransposedRows, planes);
      });
      return;
    }
    ParallelFor(threads_, c_.in_c, GrainFor(c_.out_c * kWinogradPlanes), [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c)
        for (int64_t k = 0; k < c_.out_c; k += panel_)
          simd_.filter(filter + c * c_.out_c + k, c_.in_c * c_.out_c, std::min(panel_, c_.out_c - k),
                       FilterRow(planes, c, k));
    });
  }

  // Rows [row, row + kTransposedRows) of the input gradient's filter are columns of the forward pass' one, tap by tap
  // from the last.
  void TransformTurned(const float* filter, int64_t row, float* planes) const {
    constexpr int64_t kMaxPanel = 32, kMaxTaps = 25;
    std::array<float, kMaxTaps * kTransposedRows * kMaxPanel> turned;
    const int64_t taps = c_.kernel * c_.kernel, rows = std::min(kTransposedRows, c_.in_c - row);
    for (int64_t k = 0; k < c_.out_c; k += panel_) {
      const int64_t columns = std::min(panel_, c_.out_c - k);
      for (int64_t tap = 0; tap < taps; ++tap) {
        const float* from = filter + ((taps - 1 - tap) * c_.out_c + k) * c_.in_c + row;
        float* to = turned.data() + tap * kTransposedRows * panel_;
        for (int64_t column = 0; column < columns; ++column)
          for (int64_t r = 0; r < rows; ++r) to[r * panel_ + column] = from[column * c_.in_c + r];
      }
      for (int64_t r = 0; r < rows; ++r)
        simd_.filter(turned.data() + r * panel_, kTransposedRows * panel_, columns, FilterRow(planes, row + r, k));
    }
  }

  WinogradRows FilterRow(float* planes, int64_t row, int64_t column) const {
    return {planes + column / panel_ * c_.in_c * panel_ + row * panel_, filter_plane_};
  }

  // Tiles [begin, end) from input to output.
  void Block(const LaunchArgs& a, const float* filter, float* in, float* out, int64_t begin, int64_t end) const {
    const float* x = a.in<float>(c_.turned ? 1 : 0);
    tiles_.ForEach(begin, end, [&](int64_t i, int64_t image, int64_t top, int64_t left) {
      simd_.input(
          {x + image * c_.in_h * c_.in_w * c_.in_c, c_.in_h, c_.in_w, c_.in_c, top - c_.pad_top, left - c_.pad_left},
          in_.row(in, i));
    });
    for (int64_t p = 0; p < kWinogradPlanes; ++p) {
      gemm_.multiply({.rows = end - begin,
                      .columns = columns_,
                      .depth = c_.in_c,
                      .a = in + p * in_.plane_stride,
                      .a_stride = in_.stride,
                      .b = filter + p * filter_plane_,
                      .b_stride = panel_,
                      .panel_stride = c_.in_c * panel_,
                      .c = out + p * out_.plane_stride,
                      .c_stride = out_.stride,
                      .accumulate = false});
    }
    const float* bias = extras_.bias ? a.in<float>(2) : nullptr;
    float* y = a.out<float>(0);
    tiles_.ForEach(begin, end, [&](int64_t i, int64_t image, int64_t top, int64_t left) {
      simd_.output(out_.row(out, i), {y + image * c_.out_h * c_.out_w * c_.out_c, c_.out_h, c_.out_w, c_.out_c, top,
                                      left, bias, extras_.relu});
    });
  }

  const WinogradTransformSimd& simd_;
  const TileGemmSimd& gemm_ = GetTileGemmSimd();
  const Correlation c_;
  const ConvExtras extras_;
  const int threads_;
  const WinogradTiles tiles_;
  const int64_t block_;            // tiles that a thread works on at once
  const WinogradPlanes in_, out_;  // of one block
  const int64_t columns_, panel_;  // of the transformed filter
  const int64_t filter_plane_;     // floats from one of its planes to the next
};

}  // namespace

bool CanUseWinograd(const ConvProblem& p) {
  constexpr std::array<int64_t, 2> ones{1, 1};
  return p.dtype == DType::kFloat32 && p.filter_dtype == DType::kFloat32 && p.kernel_h == p.kernel_w &&
         (p.kernel_h == 3 || p.kernel_h == 5) && p.groups == 1 && p.strides == ones && p.dilations == ones;
}

// Measured against oneDNN's direct convolutions on two cores with AVX-512, over the 3x3 layers of VGG-16, ResNet-50,
// AlexNet, Inception v3 and the CIFAR networks. What speaks against Winograd: channels too few to pay for the
// transforms, so few tiles that transforming the filter outweighs them, and tiles that lie mostly outside of a small
// image.
bool PrefersWinograd(ConvKind kind, const ConvProblem& p) {
  constexpr int64_t kMinChannels = 8, kMinTiles = 48, kMinTilesForFilter = 32;
  if (!CanUseWinograd(p) || std::min(p.in_c, p.out_c) < kMinChannels) return false;
  const Correlation c = CorrelationOf(kind == ConvKind::kBackwardFilter ? ConvKind::kForward : kind, p);
  const int64_t tiles = c.tiles().count(), size = c.tiles().size, outputs = c.batch * c.out_h * c.out_w;
  return tiles >= (kind == ConvKind::kBackwardFilter ? kMinTilesForFilter : kMinTiles) &&
         2 * outputs >= tiles * size * size;
}

PreparedKernel PrepareWinograd(ConvKind kind, const ConvProblem& problem, const ConvExtras& extras, int threads) {
  auto kernel = std::make_unique<CorrelationKernel>(CorrelationOf(kind, problem), extras, threads);
  const int64_t bytes = kernel->workspace_bytes();
  return {std::move(kernel), bytes, {}};
}

}  // namespace muster::cpu
