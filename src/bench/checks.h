#pragma once

#include "bench/params.h"

namespace muster::bench {

// Refuses what cannot mean anything, before anything runs or is written: values out of bounds (for records that were
// built in C++; the command line's parser has done that already) and combinations that exclude each other (section 8 of
// our inventory of tf_cnn_benchmarks, same conditions). Throws InvalidArgument with one line; where the recorded
// output of tf_cnn_benchmarks shows its wording, the wording is the same.
//
// Not here, because tf_cnn_benchmarks finds out later in the run: the learning-rate schedule (learning_rate.h) and the
// missing train_dir of an evaluation (CheckEvaluation).
void CheckParams(const BenchParams& params);

// An evaluation needs a train_dir. Called after the information block has been printed, as the peer does.
void CheckEvaluation(const BenchParams& params);

}  // namespace muster::bench
