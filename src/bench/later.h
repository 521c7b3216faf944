#pragma once

#include <string>
#include <vector>

#include "bench/params.h"

namespace muster::bench {

// What Muster makes of a flag of tf_cnn_benchmarks in this version. docs/bench_flags.md shows the whole table.
enum class Support {
  kWorks,
  kNoEffect,  // accepted; there is nothing for it to change
  kLater,     // refused unless it has its default
};

struct FlagSupport {
  std::string name;
  Support support = Support::kWorks;
  std::string note;  // kNoEffect: why; kLater: what is missing
};

// The flags that do not simply work; every other flag does.
const std::vector<FlagSupport>& SupportTable();
FlagSupport SupportOf(const std::string& name);

// Throws Unimplemented with one line for the first parameter that is not at its default and is not supported yet.
void CheckSupported(const BenchParams& params, const OwnParams& own = {});

// The parameters that are not at their defaults and have no effect, here (kNoEffect) or in this request (momentum of
// another optimizer, and so on): for one note on standard error. "" when none.
std::string NoEffectNote(const BenchParams& params, const OwnParams& own = {});

// Throws InvalidArgument if --gpu_memory_limit_mb is more than a simulated GPU has.
void CheckGpuMemoryLimit(int64_t mebibytes);

}  // namespace muster::bench
