// Loops of fixed length over words, which the compiler vectorises for each instruction set. Bits equal to
// RandomStream's come from running the same exactly rounded operations: this file is built without contraction to fused
// multiply-add.
#include "backend/cpu/random_simd.h"

#include "base/random_transform.h"

#include "backend/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/random_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace muster::cpu {
namespace HWY_NAMESPACE {
namespace {

// The words of elements [first, first + kRandomUnit).
#if HWY_TARGET == HWY_SCALAR
void DrawWords(const Philox& philox, int64_t step, int64_t first, uint32_t* words) {
  for (int64_t b = 0; b < kRandomUnit / 4; ++b) {
    const Philox::Block block = philox(static_cast<uint64_t>(step), static_cast<uint64_t>(first / 4 + b));
    for (size_t j = 0; j < 4; ++j) words[4 * b + static_cast<int64_t>(j)] = block[j];
  }
}
#else
// Philox4x32-10 for as many counters as 64-bit lanes: each word of a counter sits in the low half of a lane, whose high
// half is of no account because MulEven does not look at it.
void DrawWords(const Philox& philox, int64_t step, int64_t first, uint32_t* words) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<uint64_t> d;
  const hn::Repartition<uint32_t, decltype(d)> d32;
  using V = hn::Vec<decltype(d)>;
  const auto multiply = [&](V a, uint64_t b)
                            HWY_ATTR { return hn::MulEven(hn::BitCast(d32, a), hn::BitCast(d32, hn::Set(d, b))); };
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t b = 0; b < kRandomUnit / 4; b += lanes) {
    V c0 = hn::Iota(d, static_cast<uint64_t>(first / 4 + b));
    V c1 = hn::ShiftRight<32>(c0), c2 = hn::Set(d, static_cast<uint64_t>(step)), c3 = hn::ShiftRight<32>(c2);
    uint32_t k0 = philox.key()[0], k1 = philox.key()[1];
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
      const V p0 = multiply(c0, 0xD2511F53), p1 = multiply(c2, 0xCD9E8D57);
      c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1), hn::Set(d, uint64_t{k0}));
      c1 = p1;
      c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3), hn::Set(d, uint64_t{k1}));
      c3 = p0;
    }
    const V low = hn::Set(d, uint64_t{0xFFFFFFFF});
    const V front = hn::Or(hn::And(c0, low), hn::ShiftLeft<32>(c1)),
            back = hn::Or(hn::And(c2, low), hn::ShiftLeft<32>(c3));
    hn::StoreInterleaved2(front, back, d, reinterpret_cast<uint64_t*>(words) + 2 * b);
  }
}
#endif

// flatten: the transformations of base/random_transform.h are to become part of these loops.
__attribute__((flatten)) void Uniform(const Philox& philox, int64_t step, int64_t first, float* out) {
  alignas(64) uint32_t words[kRandomUnit];
  DrawWords(philox, step, first, words);
  for (int64_t i = 0; i < kRandomUnit; ++i) out[i] = static_cast<float>(static_cast<int32_t>(words[i] >> 8)) * 0x1p-24f;
}

__attribute__((flatten)) void Normal(const Philox& philox, int64_t step, int64_t first, float* out) {
  alignas(64) uint32_t words[kRandomUnit];
  DrawWords(philox, step, first, words);
  for (int64_t i = 0; i < kRandomUnit; i += 2) NormalPair(words[i], words[i + 1], out + i);
}

__attribute__((flatten)) void Truncated(const Philox& philox, int64_t step, int64_t first, float* out) {
  alignas(64) uint32_t words[kRandomUnit];
  DrawWords(philox, step, first, words);
  for (int64_t i = 0; i < kRandomUnit; ++i) out[i] = TruncatedNormal(words[i]);
}

}  // namespace

const RandomSimd* RandomTable() {
  static constexpr RandomSimd table = {Uniform, Normal, Truncated};
  return &table;
}

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::cpu {
HWY_EXPORT(RandomTable);
const RandomSimd& GetRandomSimd() { return *HWY_DYNAMIC_DISPATCH(RandomTable)(); }
}  // namespace muster::cpu
#endif
