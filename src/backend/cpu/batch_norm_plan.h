#pragma once

#include <cstdint>

#include "backend/cpu/batch_norm_simd.h"
#include "backend/cpu/parallel.h"

namespace muster::cpu {

// How one batch normalisation is cut into pieces. The cut depends on the problem alone, never on the number of threads,
// and pieces are combined in order, so results are bit-equal with any number of threads.
//
// The activation is a matrix [rows, channels]; pieces ("chunks") are runs of rows over all channels. (Blocks of
// channels over all rows, whose second pass could find its data in the second-level cache, are no faster: their rows
// lie a power of two apart and crowd a few sets of the cache.) Few channels are "folded": f rows are seen as one of f
// times the channels, which fills the vectors; f sums then belong to one channel.
struct BatchNormPlan {
  int64_t rows, channels;       // folded
  int64_t fold, real_channels;  // channels = fold * real_channels
  int64_t padded;               // channels rounded up to kChannelPadding
  int64_t chunks;
  bool small;  // not worth waking threads

  // "element_bytes": of one value of the activation.
  BatchNormPlan(int64_t real_rows, int64_t real_channels, int64_t element_bytes);

  int64_t row(int64_t chunk) const { return rows * chunk / chunks; }
  BatchNormTile tile(int64_t chunk) const { return {row(chunk + 1) - row(chunk), channels, channels}; }
  int64_t real_rows() const { return rows * fold; }
};

// Scratch memory of both directions: per-channel tables, and two sums per piece and channel, in single precision for
// kRowsPerSum rows and in double precision for the whole piece.
struct BatchNormScratch {
  static constexpr int kTables = 6;
  double* sums;       // [2][chunks][padded]
  float* block_sums;  // [2][chunks][padded]
  float* tables;      // [kTables][padded]

  static int64_t Bytes(const BatchNormPlan& plan);
  BatchNormScratch(const BatchNormPlan& plan, void* workspace);

  float* table(const BatchNormPlan& plan, int i) const { return tables + i * plan.padded; }
  double* sum(const BatchNormPlan& plan, int which, int64_t chunk) const {
    return sums + (which * plan.chunks + chunk) * plan.padded;
  }
  float* block_sum(const BatchNormPlan& plan, int which, int64_t chunk) const {
    return block_sums + (which * plan.chunks + chunk) * plan.padded;
  }
  // The sum of one real channel over all pieces, in fixed order.
  double Total(const BatchNormPlan& plan, int which, int64_t channel) const;
};

// Sums one piece: calls add(tile, first row, sum, other sum) for at most kRowsPerSum rows at a time and collects in
// double.
template <typename Add>
void SumPiece(const BatchNormPlan& plan, const BatchNormScratch& scratch, int64_t chunk, const Add& add) {
  const BatchNormTile tile = plan.tile(chunk);
  double* totals[2];
  float* sums[2];
  for (int i = 0; i < 2; ++i) {
    totals[i] = scratch.sum(plan, i, chunk);
    sums[i] = scratch.block_sum(plan, i, chunk);
    std::fill_n(totals[i], tile.channels, 0.0);
  }
  for (int64_t row = 0; row < tile.rows; row += kRowsPerSum) {
    BatchNormTile part = tile;
    part.rows = std::min(kRowsPerSum, tile.rows - row);
    for (float* sum : sums) std::fill_n(sum, plan.padded, 0.0f);
    add(part, plan.row(chunk) + row, sums[0], sums[1]);
    for (int i = 0; i < 2; ++i)
      for (int64_t k = 0; k < tile.channels; ++k) totals[i][k] += static_cast<double>(sums[i][k]);
  }
}

// Runs both passes: sum(chunk) over each piece, finish(begin, end) over the real channels, then apply(chunk) over each
// piece.
template <typename Sum, typename Finish, typename Apply>
void RunBatchNorm(const BatchNormPlan& plan, int threads, const Sum& sum, const Finish& finish, const Apply& apply) {
  ParallelItems(threads, plan.chunks, plan.small, sum);
  ParallelFor(threads, plan.real_channels, GrainFor(plan.chunks * plan.fold * 16), finish);
  // Backwards: what the first pass read last is still in the cache.
  ParallelFor(plan.small ? 1 : threads, plan.chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t chunk = end - 1; chunk >= begin; --chunk) apply(chunk);
  });
}

}  // namespace muster::cpu
