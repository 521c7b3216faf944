#include "backend/cpu/batch_norm_plan.h"

namespace muster::cpu {
namespace {

constexpr int64_t kChunkBytes = 64 * 1024;
constexpr int64_t kMaxChunks = 64;
constexpr int64_t kFoldedChannels = 128;
constexpr int64_t kSmallBytes = 2 * kGrainBytes;

int64_t RoundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

}  // namespace

BatchNormPlan::BatchNormPlan(int64_t real_rows, int64_t real_channels_, int64_t element_bytes)
    : rows(real_rows), channels(real_channels_), fold(1), real_channels(real_channels_) {
  const int64_t bytes = rows * channels * element_bytes;
  small = bytes <= kSmallBytes;
  while (rows % 2 == 0 && channels * 2 <= kFoldedChannels) rows /= 2, channels *= 2, fold *= 2;
  padded = RoundUp(channels, kChannelPadding);
  chunks = std::clamp<int64_t>(bytes / kChunkBytes, 1, std::min(kMaxChunks, std::max<int64_t>(rows, 1)));
}

int64_t BatchNormScratch::Bytes(const BatchNormPlan& plan) {
  return plan.padded * (plan.chunks * 2 * static_cast<int64_t>(sizeof(double) + sizeof(float)) +
                        kTables * static_cast<int64_t>(sizeof(float)));
}

BatchNormScratch::BatchNormScratch(const BatchNormPlan& plan, void* workspace)
    : sums(static_cast<double*>(workspace)),
      block_sums(reinterpret_cast<float*>(sums + 2 * plan.chunks * plan.padded)),
      tables(block_sums + 2 * plan.chunks * plan.padded) {}

double BatchNormScratch::Total(const BatchNormPlan& plan, int which, int64_t channel) const {
  double total = 0;
  for (int64_t chunk = 0; chunk < plan.chunks; ++chunk) {
    const double* piece = sum(plan, which, chunk);
    for (int64_t f = 0; f < plan.fold; ++f) total += piece[f * plan.real_channels + channel];
  }
  return total;
}

}  // namespace muster::cpu
