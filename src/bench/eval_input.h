#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/input.h"

namespace muster::bench {

// The input of evaluations with real images: --num_eval_batches batches of the validation images in their order,
// beginning again after the last image, so that no batch is short; every evaluation has the same. For one thread.
class EvalInput {
 public:
  // Opens the data set.
  EvalInput(const BenchParams& params, const Derived& derived);

  // Batch "number" of an evaluation: for each tower in turn images, labels. To be called for 0, 1, 2 ...; 0 begins the
  // next evaluation. Valid until the following call.
  std::vector<Tensor> At(int64_t number);

  // How long At kept its caller waiting, in all.
  double wait_seconds() const { return waited_before_ + (prefetcher_ == nullptr ? 0 : prefetcher_->wait_seconds()); }
  const data::Dataset& dataset() const { return *dataset_; }

  // What to say of an evaluation that does not take each image once; "" if it does.
  std::string CoverageNote() const;

 private:
  const BenchParams& params_;
  const Derived& derived_;
  std::unique_ptr<data::Dataset> dataset_;
  data::RepeatedBatches batches_;
  std::unique_ptr<data::Prefetcher> prefetcher_;  // of the evaluation that goes on; null before the first
  int64_t next_ = 0;
  double waited_before_ = 0;  // in earlier evaluations
};

}  // namespace muster::bench
