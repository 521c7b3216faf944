#include "backend/cpu/half_simd.h"

#include <cstring>

#include "backend/cpu/simd_targets.h"
#include "muster/dtype.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/half_simd.cc"
#include "hwy/foreach_target.h"
#include "backend/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace muster::cpu {
namespace HWY_NAMESPACE {
namespace {

// The scalar forms are those of muster/dtype.h; the vectors below give the same bits.
void WidenFloat16(const uint16_t* half, float* single, int64_t n) {
  int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  const F32 d;
  const hn::Rebind<hwy::float16_t, F32> dh;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(half + i))), d, single + i);
#endif
  for (; i < n; ++i) single[i] = ToFloat(Float16{half[i]});
}

void NarrowFloat16(const float* single, uint16_t* half, int64_t n) {
  int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  const F32 d;
  const hn::Rebind<hwy::float16_t, F32> dh;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::DemoteTo(dh, hn::LoadU(d, single + i)), dh, reinterpret_cast<hwy::float16_t*>(half + i));
#endif
  for (; i < n; ++i) half[i] = ToFloat16(single[i]).bits;
}

// Integer arithmetic that the compiler turns into vectors of this instruction set.
void WidenBFloat16(const uint16_t* half, float* single, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t bits = uint32_t{half[i]} << 16;
    std::memcpy(single + i, &bits, sizeof bits);
  }
}

void NarrowBFloat16(const float* single, uint16_t* half, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    uint32_t bits;
    std::memcpy(&bits, single + i, sizeof bits);
    const uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16, nan = (bits >> 16) | 0x40;
    half[i] = static_cast<uint16_t>((bits & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded);
  }
}

}  // namespace

const HalfSimd* HalfTable() {
  static constexpr HalfSimd table = {WidenFloat16, NarrowFloat16, WidenBFloat16, NarrowBFloat16};
  return &table;
}

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::cpu {
HWY_EXPORT(HalfTable);
const HalfSimd& GetHalfSimd() { return *HWY_DYNAMIC_DISPATCH(HalfTable)(); }
}  // namespace muster::cpu
#endif
