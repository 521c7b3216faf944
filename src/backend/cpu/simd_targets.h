#pragma once

// Included before hwy/foreach_target.h: leaves out instruction sets, since a SIMD file is compiled once per set.
// AVX-512 and AVX2 cover the CPUs that train networks, the scalar fallback all others. A SIMD file reads
//
//   #include "backend/cpu/simd_targets.h"
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "backend/cpu/THIS_FILE.cc"
//   #include "hwy/foreach_target.h"
//   #include "backend/cpu/simd_inl.h"
//
// and ends with a function that returns this CPU's table of function pointers, which kernels take once, in Prepare.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
