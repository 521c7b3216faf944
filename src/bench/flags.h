#pragma once

#include "base/flags.h"
#include "bench/params.h"

namespace muster::bench {

// The flags of tf_cnn_benchmarks: names, types, defaults, allowed values and bounds as golden/cnn_benchmarks/flags.json
// lists them, except that "device" defaults to what the machine has.
FlagTable PeerFlags();

// The flags that only Muster has, kept apart.
FlagTable OwnFlags();

// The record that a command line describes. "values" were parsed with PeerFlags().Plus(OwnFlags()).
BenchParams ParamsFromFlags(const FlagValues& values);
OwnParams OwnParamsFromFlags(const FlagValues& values);

}  // namespace muster::bench
