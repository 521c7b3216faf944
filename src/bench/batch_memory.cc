#include "bench/batch_memory.h"

#include <algorithm>

#include "bench/strategy.h"
#include "bench/train_graph.h"

namespace muster::bench {

BatchMemory::BatchMemory(const BenchParams& params, const OwnParams& own, const Derived& derived,
                         SessionOptions devices)
    : params_(params),
      own_(own),
      derived_(derived),
      devices_(std::move(devices)),
      mode_(own.recompute == "auto" ? Recompute::kFit : Recompute::kNone),
      host_limit_(train::HostMemoryLimit(own.host_memory_limit_mb)) {}

SessionOptions BatchMemory::OptionsWith(Recompute recompute) const {
  SessionOptions options = devices_;
  options.recompute = recompute;
  options.host_memory_limit = host_limit_;
  return options;
}

train::MemoryNeeds BatchMemory::Needs(Session& session, const Graph& graph, const StepPlans& plans) const {
  return train::NeedsOf(session, graph, plans.stats(), host_limit_);
}

// An evaluation beside the training has batches of the same size unless it is told otherwise.
train::PlanMemory BatchMemory::PlanWith(Recompute recompute, Batches which) const {
  return [this, recompute, which](int64_t batch) {
    Derived derived = derived_;
    if (which == Batches::kTraining) derived.batch_size_per_device = batch;
    if (which == Batches::kEvaluation || params_.eval_batch_size == 0) derived.eval_batch_size_per_device = batch;
    const auto built = BuildTrainGraph(params_, own_, derived, derived.batch_size_per_device);
    Session session(built->graph.get(), OptionsWith(recompute));
    return Needs(session, *built->graph, PrepareStepPlans(params_, *built, session));
  };
}

train::FitQuestion BatchMemory::QuestionOf(Batches which) const {
  const bool is_evaluation = params_.eval_batch_size > 0 && (params_.eval || which == Batches::kEvaluation);
  return {.flag = is_evaluation ? "eval_batch_size" : "batch_size",
          .batch_size =
              which == Batches::kEvaluation ? derived_.eval_batch_size_per_device : derived_.batch_size_per_device,
          .plan = PlanWith(mode_, which),
          .exchange_flags = ExchangeFlags()};
}

// With buckets, what is in flight at a time is as large as they are.
const char* BatchMemory::ExchangeFlags() const {
  const bool has_buckets = IsReplicated(params_) && own_.bucket_mb > 0 && params_.gradient_repacking == 0;
  return has_buckets ? "--variable_update, --bucket_mb" : "--variable_update, --local_parameter_device";
}

void BatchMemory::CheckImagesFit() const {
  const auto check = [&](Batches which) {
    train::FitQuestion question = QuestionOf(which);
    question.first_batch = 1;
    const double images = static_cast<double>(question.batch_size) * static_cast<double>(derived_.num_devices);
    const double bytes = std::min(images * static_cast<double>(BytesPerImage(derived_)), 9e18);
    train::CheckFits({{"the host", static_cast<int64_t>(bytes), host_limit_}}, question);
  };
  check(Batches::kTraining);
  if (derived_.mode == Mode::kTrainingAndEvaluation) check(Batches::kEvaluation);
}

// The batch of the plan that takes more beside the variables is the one to make smaller.
void BatchMemory::CheckFits(const train::MemoryNeeds& needs, const StepPlans& plans) const {
  const auto own_bytes = [](const Runner& plan) { return plan.stats().peak_bytes - plan.stats().variable_bytes; };
  const bool is_evaluation = plans.evaluation != nullptr && params_.eval_batch_size > 0 &&
                             own_bytes(*plans.evaluation) > own_bytes(*plans.step);
  train::FitQuestion question = QuestionOf(is_evaluation ? Batches::kEvaluation : Batches::kTraining);
  const bool can_recompute = mode_ == Recompute::kNone && !params_.forward_only && !params_.eval && !is_evaluation;
  if (can_recompute) {
    question.plan_recomputed = PlanWith(Recompute::kMost, Batches::kTraining);
    question.plan_to_fit = PlanWith(Recompute::kFit, Batches::kTraining);
  }
  train::CheckFits(needs, question);
}

int64_t BatchMemory::LargestBatch() const {
  constexpr int64_t kMost = 1 << 20;
  const int64_t largest =
      train::LargestBatch(derived_.model.default_batch_size, kMost, PlanWith(mode_, Batches::kTraining));
  if (largest > 0) return largest;
  train::FitQuestion question = QuestionOf(Batches::kTraining);
  question.batch_size = 1;
  train::CheckFits(question.plan(1), question);
  return 1;  // memory was set free meanwhile
}

}  // namespace muster::bench
