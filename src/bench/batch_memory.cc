#include "bench/batch_memory.h"

#include <algorithm>

#include "bench/train_graph.h"

namespace muster::bench {

BatchMemory::BatchMemory(const BenchParams& params, const OwnParams& own, const Derived& derived, SessionOptions devices)
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

train::PlanMemory BatchMemory::PlanWith(Recompute recompute) const {
  return [this, recompute](int64_t batch) {
    const auto built = BuildTrainGraph(params_, own_, derived_, batch);
    Session session(built->graph.get(), OptionsWith(recompute));
    return Needs(session, *built->graph, PrepareStepPlans(params_, *built, session));
  };
}

void BatchMemory::CheckImagesFit() const {
  const double images = static_cast<double>(derived_.batch_size_per_device) * static_cast<double>(derived_.num_devices);
  const double bytes = std::min(images * static_cast<double>(BytesPerImage(derived_)), 9e18);
  train::CheckFits({{"the host", static_cast<int64_t>(bytes), host_limit_}},
                   {.batch_size = derived_.batch_size_per_device, .plan = PlanWith(mode_), .first_batch = 1});
}

void BatchMemory::CheckFits(const train::MemoryNeeds& needs) const {
  train::FitQuestion question{.batch_size = derived_.batch_size_per_device, .plan = PlanWith(mode_)};
  const bool can_recompute = mode_ == Recompute::kNone && !params_.forward_only && !params_.eval;
  if (can_recompute) question.plan_recomputed = PlanWith(Recompute::kMost);
  train::CheckFits(needs, question);
}

int64_t BatchMemory::LargestBatch() const {
  constexpr int64_t kMost = 1 << 20;
  const int64_t largest = train::LargestBatch(derived_.model.default_batch_size, kMost, PlanWith(mode_));
  if (largest > 0) return largest;
  train::CheckFits(PlanWith(mode_)(1), {.batch_size = 1, .plan = PlanWith(mode_)});
  return 1;  // memory was set free meanwhile
}

}  // namespace muster::bench
