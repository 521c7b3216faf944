#pragma once

#include "bench/derived.h"
#include "bench/params.h"
#include "muster/session.h"
#include "muster/strategy.h"

namespace muster::bench {

// How the flags lay out towers, variables and exchange. distributed_all_reduce and collective_all_reduce without a job
// are the replicated mode, as in tf_cnn_benchmarks. The parameters were checked.
StrategyOptions StrategyOf(const BenchParams& params, const OwnParams& own, const Derived& derived);

// The devices that a session needs for these towers, and the threads of each.
SessionOptions DevicesOf(const BenchParams& params, const OwnParams& own, const Derived& derived);

// The cards that the flags describe. Throws InvalidArgument if --virtual_gpus_mb is malformed.
GpuOptions GpuOptionsOf(const BenchParams& params, const OwnParams& own);

// Whether towers compute on CPUs.
bool IsOnCpus(const BenchParams& params);

// Whether copies of variables are kept equal by an exchange.
bool IsReplicated(const BenchParams& params);

// By how many towers' sum the models' own schedules are to divide: 1 unless the replicated mode adds gradients.
int SummedTowers(const BenchParams& params, const OwnParams& own);

}  // namespace muster::bench
