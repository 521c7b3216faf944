#include "bench/eval_input.h"

#include <fmt/format.h>

#include "base/check.h"

namespace muster::bench {

EvalInput::EvalInput(const BenchParams& params, const Derived& derived)
    : params_(params),
      derived_(derived),
      dataset_(OpenInput(params, derived, data::Subset::kValidation)),
      batches_(*dataset_, derived.eval_batch_size, derived.num_eval_batches) {}

std::vector<Tensor> EvalInput::At(int64_t number) {
  if (number == 0) {
    waited_before_ = wait_seconds();
    prefetcher_ = nullptr;  // its memory first
    prefetcher_ = std::make_unique<data::Prefetcher>(batches_, PrefetchOptions(params_, derived_, 0));
    next_ = 0;
  }
  MUSTER_CHECK(number == next_ && prefetcher_ != nullptr && number < derived_.num_eval_batches);
  ++next_;
  return FeedsOfTowers(*prefetcher_->Next(), derived_.num_devices);
}

std::string EvalInput::CoverageNote() const {
  const int64_t images = dataset_->size(), batch = derived_.eval_batch_size, taken = derived_.num_eval_batches * batch;
  if (taken == images) return "";
  if (taken > images)
    return fmt::format("an evaluation takes {} images, but there are {}: it begins again with the first", taken,
                       images);
  const int64_t all = (images + batch - 1) / batch;
  return fmt::format("an evaluation takes the first {} of {} validation images; --num_eval_batches={} takes all", taken,
                     images, all);
}

}  // namespace muster::bench
