#pragma once

#include <cstdint>

#include "backend/cpu/batch_norm_simd.h"
#include "backend/cpu/parallel.h"

namespace muster::cpu {

// How one batch normalisation is cut into pieces. The cut depends on the problem alone, never on the number of threads, and
// pieces are combined in order, so results are bit-equal with any number of threads.
//
// The activation is a matrix [rows, channels]. When a block of channels over all rows fits the second-level cache, pieces are
// such blocks ("chunks" is 1) and the second pass finds its data there. Otherwise pieces are runs of rows over all channels.
// Few channels are "folded": f rows are seen as one of f times the channels, which fills the vectors; f sums then belong to
// one channel.
struct BatchNormPlan {
  int64_t rows, channels;       // folded
  int64_t fold, real_channels;  // channels = fold * real_channels
  int64_t padded;               // channels rounded up to kChannelPadding
  int64_t chunks, block;        // pieces: chunks runs of rows, each ceil(channels / block) blocks of channels
  bool small;                   // not worth waking threads

  // "bytes_read": by the first pass for each value of the activation.
  BatchNormPlan(int64_t real_rows, int64_t real_channels, int64_t bytes_read);

  int64_t blocks() const { return (channels + block - 1) / block; }
  int64_t row(int64_t chunk) const { return rows * chunk / chunks; }
  BatchNormTile tile(int64_t chunk, int64_t c) const {
    return {row(chunk + 1) - row(chunk), std::min(block, channels - c), channels};
  }
  int64_t real_rows() const { return rows * fold; }
};

// Scratch memory of both directions: per-channel tables, and two sums per piece and channel, in single precision for
// kRowsPerSum rows and in double precision for the whole piece.
struct BatchNormScratch {
  static constexpr int kTables = 6;
  double* sums;         // [2][chunks][padded]
  float* block_sums;    // [2][chunks][padded]
  float* tables;        // [kTables][padded]

  static int64_t Bytes(const BatchNormPlan& plan);
  BatchNormScratch(const BatchNormPlan& plan, void* workspace);

  float* table(const BatchNormPlan& plan, int i) const { return tables + i * plan.padded; }
  double* sum(const BatchNormPlan& plan, int which, int64_t chunk) const { return sums + (which * plan.chunks + chunk) * plan.padded; }
  float* block_sum(const BatchNormPlan& plan, int which, int64_t chunk) const {
    return block_sums + (which * plan.chunks + chunk) * plan.padded;
  }
  // The sum of one real channel over all pieces, in fixed order.
  double Total(const BatchNormPlan& plan, int which, int64_t channel) const;
};

// Sums one piece: calls add(tile, first row, sum, other sum) for at most kRowsPerSum rows at a time and collects in double.
template <typename Add>
void SumPiece(const BatchNormPlan& plan, const BatchNormScratch& scratch, int64_t chunk, int64_t c, const Add& add) {
  const BatchNormTile tile = plan.tile(chunk, c);
  double* totals[2];
  float* sums[2];
  for (int i = 0; i < 2; ++i) {
    totals[i] = scratch.sum(plan, i, chunk) + c;
    sums[i] = scratch.block_sum(plan, i, chunk) + c;
    std::fill_n(totals[i], tile.channels, 0.0);
  }
  const int64_t padded = (tile.channels + kChannelPadding - 1) / kChannelPadding * kChannelPadding;
  for (int64_t row = 0; row < tile.rows; row += kRowsPerSum) {
    BatchNormTile part = tile;
    part.rows = std::min(kRowsPerSum, tile.rows - row);
    for (float* sum : sums) std::fill_n(sum, padded, 0.0f);
    add(part, plan.row(chunk) + row, sums[0], sums[1]);
    for (int i = 0; i < 2; ++i)
      for (int64_t k = 0; k < tile.channels; ++k) totals[i][k] += static_cast<double>(sums[i][k]);
  }
}

// Runs both passes: sum(chunk, c) over each piece, finish(begin, end) over the real channels whose sums are complete, then
// apply(chunk, c) over each piece.
template <typename Sum, typename Finish, typename Apply>
void RunBatchNorm(const BatchNormPlan& plan, int threads, const Sum& sum, const Finish& finish, const Apply& apply) {
  if (plan.chunks == 1 && plan.fold == 1) {
    ParallelItems(threads, plan.blocks(), plan.small, [&](int64_t b) {
      const int64_t c = b * plan.block;
      sum(int64_t{0}, c);
      finish(c, std::min(c + plan.block, plan.channels));
      apply(int64_t{0}, c);
    });
    return;
  }
  ParallelItems(threads, plan.chunks, plan.small, [&](int64_t chunk) { sum(chunk, int64_t{0}); });
  ParallelFor(threads, plan.real_channels, GrainFor(plan.chunks * plan.fold * 16), finish);
  // Backwards: what the first pass read last is still in the cache.
  ParallelFor(plan.small ? 1 : threads, plan.chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t chunk = end - 1; chunk >= begin; --chunk) apply(chunk, int64_t{0});
  });
}

}  // namespace muster::cpu
