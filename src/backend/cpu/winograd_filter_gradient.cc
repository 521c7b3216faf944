#include <omp.h>

#include "backend/cpu/parallel.h"
#include "backend/cpu/tile_gemm_simd.h"
#include "backend/cpu/winograd.h"
#include "backend/cpu/winograd_tiles.h"

// The gradient of a filter's tap is a sum over all tiles of products of x and dy; behind the transforms it is, for each
// of the 36 planes, a matrix product x^T [in_c, tiles] x dy [tiles, out_c], transformed back once at the end. How the
// work is shared out depends on how large these 36 products are:
//
// * small ones: the tiles are cut into pieces, each thread sums whole pieces in its own second-level cache, and the
// pieces are
//   added in order;
// * large ones: all threads transform a chunk of tiles, then each takes some of the planes, adding up chunk after
// chunk.
//
// Pieces and chunks depend on the problem alone, so the sums' bits do not depend on the number of threads.
namespace muster::cpu {
namespace {

using onednn::ConvProblem;

constexpr int64_t kFloat = sizeof(float);
// Sums of up to this size stay in a second-level cache beside the tiles that they are made of.
constexpr int64_t kSmallSums = int64_t{5} << 18;
constexpr int64_t kPieceBlockBytes = int64_t{1} << 19;
constexpr int64_t kMinPieceBlock = 28;
constexpr int64_t kMaxPieces = 32, kMinTilesPerPiece = 128;
// Transformed tiles that the threads exchange by way of the shared cache.
constexpr int64_t kChunkBytes = int64_t{4} << 20;
constexpr int64_t kMinChunk = 56;

struct FilterGradient {
  ConvProblem p;
  int threads;
  WinogradTiles tiles;
  WinogradPlanes sums;  // rows are input channels
  const WinogradTransformSimd& simd;
  const TileGemmSimd& gemm = GetTileGemmSimd();

  FilterGradient(const ConvProblem& problem, int num_threads)
      : p(problem),
        threads(num_threads),
        tiles(p.batch, p.out_h, p.out_w, p.kernel_h),
        sums(p.in_c, p.out_c),
        simd(GetWinogradTransformSimd(p.kernel_h)) {}

  int64_t filter_floats() const { return p.kernel_h * p.kernel_w * p.in_c * p.out_c; }

  int64_t tile_bytes() const { return kWinogradPlanes * (p.in_c + p.out_c) * kFloat; }

  // Tiles [begin, end) of x and dy.
  void Transform(const LaunchArgs& a, int64_t begin, int64_t end, const WinogradPlanes& x, float* x_planes,
                 const WinogradPlanes& dy, float* dy_planes, int64_t first_row) const {
    tiles.ForEach(begin, end, [&](int64_t i, int64_t image, int64_t top, int64_t left) {
      simd.input({a.in<float>(0) + image * p.in_h * p.in_w * p.in_c, p.in_h, p.in_w, p.in_c, top - p.paddings[0],
                  left - p.paddings[2]},
                 x.row(x_planes, first_row + i));
      simd.gradient({a.in<float>(1) + image * p.out_h * p.out_w * p.out_c, p.out_h, p.out_w, p.out_c, top, left},
                    dy.row(dy_planes, first_row + i));
    });
  }

  void MultiplyPlane(int64_t plane, int64_t count, const WinogradPlanes& x, const float* x_planes,
                     const WinogradPlanes& dy, const float* dy_planes, float* to, bool accumulate) const {
    gemm.multiply_transposed({.rows = p.in_c,
                              .columns = RoundUp(p.out_c, kGemmPadding),
                              .depth = count,
                              .a = x_planes + plane * x.plane_stride,
                              .a_stride = x.stride,
                              .b = dy_planes + plane * dy.plane_stride,
                              .b_stride = dy.stride,
                              .panel_stride = gemm.panel,
                              .c = to + plane * sums.plane_stride,
                              .c_stride = sums.stride,
                              .accumulate = accumulate});
  }

  // Rows [begin, end) of the filter, from sums over all tiles of some piece.
  void TransformBack(int64_t begin, int64_t end, float* planes, float* filter) const {
    for (int64_t c = begin; c < end; ++c)
      simd.filter_gradient(sums.row(planes, c), filter + c * p.out_c, p.in_c * p.out_c, p.out_c);
  }
};

class PiecesKernel final : public Kernel {
 public:
  explicit PiecesKernel(const FilterGradient& g)
      : g_(g),
        pieces_(std::clamp<int64_t>(g.tiles.count() / kMinTilesPerPiece, 1, kMaxPieces)),
        block_(BlockOf(g, pieces_)),
        x_(block_, g.p.in_c),
        dy_(block_, g.p.out_c),
        filter_(RoundUp(g.filter_floats(), kGemmPadding)) {}

  int64_t workspace_bytes() const {
    const int64_t partial = pieces_ > 1 ? pieces_ * filter_ : 0;
    return kFloat * (partial + g_.threads * (x_.floats() + dy_.floats() + g_.sums.floats()));
  }

  void Launch(const LaunchArgs& a) override {
    float* partial = pieces_ > 1 ? static_cast<float*>(a.workspace) : a.out<float>(0);
    float* scratch = static_cast<float*>(a.workspace) + (pieces_ > 1 ? pieces_ * filter_ : 0);
    ParallelFor(g_.threads, pieces_, 1, [&](int64_t begin, int64_t end) {
      float* x = scratch + omp_get_thread_num() * (x_.floats() + dy_.floats() + g_.sums.floats());
      for (int64_t piece = begin; piece < end; ++piece) Sum(a, piece, x, partial + piece * filter_);
    });
    if (pieces_ > 1) Combine(partial, a.out<float>(0));
  }

 private:
  static int64_t BlockOf(const FilterGradient& g, int64_t pieces) {
    const int64_t most = std::max(kPieceBlockBytes / g.tile_bytes(), kMinPieceBlock);
    const int64_t tiles = CeilDiv(g.tiles.count(), pieces);
    return CeilDiv(tiles, CeilDiv(tiles, most));
  }

  void Sum(const LaunchArgs& a, int64_t piece, float* x, float* to) const {
    float *dy = x + x_.floats(), *sums = dy + dy_.floats();
    const int64_t tiles = g_.tiles.count(), begin = tiles * piece / pieces_, end = tiles * (piece + 1) / pieces_;
    for (int64_t t = begin; t < end; t += block_) {
      const int64_t count = std::min(block_, end - t);
      g_.Transform(a, t, t + count, x_, x, dy_, dy, 0);
      for (int64_t plane = 0; plane < kWinogradPlanes; ++plane)
        g_.MultiplyPlane(plane, count, x_, x, dy_, dy, sums, t > begin);
    }
    g_.TransformBack(0, g_.p.in_c, sums, to);
  }

  void Combine(const float* partial, float* filter) const {
    const int64_t n = g_.filter_floats();
    ParallelFor(g_.threads, CeilDiv(n, kGemmPadding), GrainFor(kGemmPadding * pieces_ * kFloat),
                [&](int64_t begin, int64_t end) {
                  const int64_t from = begin * kGemmPadding, count = std::min(end * kGemmPadding, n) - from;
                  std::copy_n(partial + from, count, filter + from);
                  for (int64_t piece = 1; piece < pieces_; ++piece)
                    g_.simd.add(partial + piece * filter_ + from, count, filter + from);
                });
  }

  const FilterGradient g_;
  const int64_t pieces_, block_;
  const WinogradPlanes x_, dy_;  // of one block of tiles
  const int64_t filter_;         // floats of one piece's result
};

class PlanesKernel final : public Kernel {
 public:
  explicit PlanesKernel(const FilterGradient& g)
      : g_(g), chunk_(ChunkOf(g)), x_(chunk_, g.p.in_c), dy_(chunk_, g.p.out_c) {}

  int64_t workspace_bytes() const { return kFloat * (x_.floats() + dy_.floats() + g_.sums.floats()); }

  void Launch(const LaunchArgs& a) override {
    float *x = static_cast<float*>(a.workspace), *dy = x + x_.floats(), *sums = dy + dy_.floats();
    const int64_t tiles = g_.tiles.count();
    for (int64_t t = 0; t < tiles; t += chunk_) {
      const int64_t count = std::min(chunk_, tiles - t);
      ParallelFor(g_.threads, count, 1,
                  [&](int64_t begin, int64_t end) { g_.Transform(a, t + begin, t + end, x_, x, dy_, dy, begin); });
      ParallelFor(g_.threads, kWinogradPlanes, 1, [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) g_.MultiplyPlane(plane, count, x_, x, dy_, dy, sums, t > 0);
      });
    }
    ParallelFor(g_.threads, g_.p.in_c, 1,
                [&](int64_t begin, int64_t end) { g_.TransformBack(begin, end, sums, a.out<float>(0)); });
  }

 private:
  static int64_t ChunkOf(const FilterGradient& g) {
    const int64_t most = std::max(kChunkBytes / g.tile_bytes(), kMinChunk);
    const int64_t tiles = g.tiles.count();
    return CeilDiv(tiles, CeilDiv(tiles, most));
  }

  const FilterGradient g_;
  const int64_t chunk_;          // tiles that are transformed before they are multiplied
  const WinogradPlanes x_, dy_;  // of one chunk
};

template <typename K>
PreparedKernel Prepared(const FilterGradient& g) {
  auto kernel = std::make_unique<K>(g);
  const int64_t bytes = kernel->workspace_bytes();
  return {std::move(kernel), bytes, {}};
}

}  // namespace

PreparedKernel PrepareWinogradFilterGradient(const ConvProblem& problem, int threads) {
  const FilterGradient g(problem, threads);
  return g.sums.floats() * kFloat <= kSmallSums ? Prepared<PiecesKernel>(g) : Prepared<PlanesKernel>(g);
}

}  // namespace muster::cpu
