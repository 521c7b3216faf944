#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/derived.h"
#include "data/dataset.h"
#include "data/prefetch.h"
#include "data/subset.h"
#include "muster/tensor.h"

namespace muster::bench {

// The images of --data_dir, prepared as the flags say: a part of ImageNet's (TFRecord files or folders of images) or of
// CIFAR-10's. Training images change at random with --distortions and so on, validation images do not and are in the
// order of tf_cnn_benchmarks, which interleaves record files. Throws Error naming flag, file and place.
std::unique_ptr<data::Dataset> OpenInput(const BenchParams& params, const Derived& derived, data::Subset subset);

// A line about each set of files of which OpenInput reads only a part, because others are missing (MissingImageFiles).
std::vector<std::string> MissingInputNotes(const BenchParams& params, const Derived& derived, data::Subset subset);

// Threads that prepare images (--datasets_num_private_threads, or what fits the machine); 0: the step itself does.
int InputThreads(const BenchParams& params, const Derived& derived);

// How batches from number "first" on are made ahead.
data::Prefetcher::Options PrefetchOptions(const BenchParams& params, const Derived& derived, int64_t first);

// Equal parts of a batch, for each tower in turn: images, labels. Views of the batch's memory.
std::vector<Tensor> FeedsOfTowers(const data::Batch& batch, int64_t num_towers);

// The input of a training or forward-only run with real images: batches in a fixed random order that depends on
// --tf_random_seed, made ahead of their use. For one thread.
class TrainInput {
 public:
  // Opens the data set.
  TrainInput(const BenchParams& params, const Derived& derived);

  // From now on Next gives the batch of global step "first" and on. A run that was resumed goes on where it ended.
  void StartAt(int64_t first);
  // The input of any step, made at once; valid until the following call.
  std::vector<Tensor> BatchAt(int64_t step);
  // The next step's input for each tower in turn: images, labels. Valid until the following call.
  std::vector<Tensor> Next();

  // How long Next kept its caller waiting, in all.
  double wait_seconds() const { return prefetcher_ == nullptr ? 0 : prefetcher_->wait_seconds(); }
  const data::Dataset& dataset() const { return *dataset_; }

 private:
  const BenchParams& params_;
  const Derived& derived_;
  std::unique_ptr<data::Dataset> dataset_;
  data::TrainBatches batches_;
  std::unique_ptr<data::Prefetcher> prefetcher_;  // null before StartAt
  data::Batch single_;                            // of BatchAt
};

}  // namespace muster::bench
