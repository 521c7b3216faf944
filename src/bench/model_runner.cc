#include "bench/model_runner.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/heap.h"
#include "base/process_memory.h"
#include "bench/batch_memory.h"
#include "bench/checks.h"
#include "bench/eval_dir.h"
#include "bench/eval_input.h"
#include "bench/input.h"
#include "bench/later.h"
#include "bench/loop.h"
#include "bench/run_files.h"
#include "bench/strategy.h"
#include "bench/train_dir.h"
#include "bench/train_graph.h"
#include "muster/graph_export.h"
#include "muster/half_precision.h"
#include "muster/session.h"
#include "train/non_finite.h"

namespace muster::bench {
namespace {

class ModelRunner final : public StepRunner {
 public:
  explicit ModelRunner(const RunnerRequest& request)
      : params_(request.params),
        own_(request.own),
        derived_(request.derived),
        memory_(params_, own_, derived_, DevicesOf(params_, own_, derived_)) {
    memory_.CheckImagesFit();
    if (!derived_.synthetic && derived_.mode != Mode::kEvaluation)
      input_ = std::make_unique<TrainInput>(params_, derived_);
    if (!derived_.synthetic && derived_.evaluates()) eval_input_ = std::make_unique<EvalInput>(params_, derived_);
    built_ = BuildTrainGraph(params_, own_, derived_, derived_.batch_size_per_device);
    SessionOptions options = memory_.Options();
    options.dump_passes_dir = own_.dump_passes.value_or("");
    options.log_device_placement = own_.log_device_placement;
    options.keep_partition_graphs = NeedsPartitionGraphs(params_);
    session_ = std::make_unique<Session>(built_->graph.get(), options);
  }

  PreparedRun Prepare() override {
    plans_ = PrepareStepPlans(params_, *built_, *session_);
    const train::MemoryNeeds needs = memory_.Needs(*session_, *built_->graph, plans_);
    memory_.CheckFits(needs, plans_);
    if (NanStops(params_, own_) && !params_.forward_only) plans_.step->StopUnlessFinite(0);
    PreparedRun prepared;
    prepared.counted_bytes = train::HostBytes(needs);
    // And what the program holds already: the graph, the plan and the machine code of its kernels.
    prepared.planned_peak_bytes = prepared.counted_bytes + HeldOwnBytes();
    prepared.memory_note = train::HostLimitNote(own_.host_memory_limit_mb);
    prepared.precision_note = PrecisionNote();
    prepared.input_notes = InputNotes();
    prepared.recompute_note = train::RecomputeNote(plans_.step->stats());
    session_->Initialize();
    Prefill(0);
    ReleaseFreeHeap();  // of the plans that initialized
    prepared.num_threads = session_->num_threads();
    prepared.memory = plans_.step->stats().devices;
    prepared.libraries = Session::Libraries();
    return prepared;
  }

  // What is staged is made from the restored values.
  int64_t Resume() override {
    const int64_t steps = ResumeModel();
    if (input_ != nullptr) input_->StartAt(steps);
    return steps;
  }

  std::string ResumeNote() override { return train_dir_ == nullptr ? "" : train_dir_->RestoreNote(); }

  // What is staged for the first step comes from the batch of step "first", which that step then reads again.
  void Prefill(int64_t first) {
    if (built_->prefill.empty()) return;
    const std::vector<Tensor> inputs = input_ == nullptr ? std::vector<Tensor>() : input_->BatchAt(first);
    session_->Prepare(built_->inputs, {}, built_->prefill)->Run(inputs);
  }

  int64_t ResumeModel() {
    if (!params_.train_dir) return 0;
    plans_.step->FinishSteps();  // what is saved at the end must be of whole steps
    train_dir_ = std::make_unique<TrainDir>(params_, derived_, *built_, *session_, plans_.gradients.get());
    const int64_t steps = train_dir_->Restore();
    if (steps == 0) return 0;
    Prefill(steps);
    session_->set_step(steps);
    return steps;
  }

  void Begin() override {
    if (train_dir_ != nullptr) train_dir_->Begin();
  }

  void AfterStep(const StepInput& input, const StepResult& result) override {
    if (train_dir_ != nullptr) train_dir_->AfterStep(input, result);
  }

  std::string End(int64_t steps) override { return train_dir_ == nullptr ? "" : train_dir_->End(steps); }

  StepResult RunStep(const StepInput& input) override {
    const double waited = input_ == nullptr ? 0 : input_->wait_seconds();
    if (input_ != nullptr) fed_ = input_->Next();
    const double wait = input_ == nullptr ? 0 : input_->wait_seconds() - waited;
    if (train_dir_ != nullptr) train_dir_->BeforeStep(input, fed_);
    Timeline* const summarised = train_dir_ == nullptr ? nullptr : train_dir_->TimelineFor(input);
    Timeline* const timeline = input.timeline != nullptr ? input.timeline : summarised;
    const int64_t step = session_->step();
    std::vector<Tensor> feeds = {Tensor::Scalar<float>(input.learning_rate)};
    feeds.insert(feeds.end(), fed_.begin(), fed_.end());
    const std::vector<Tensor> results =
        timeline != nullptr ? plans_.step->RunTraced(feeds, timeline) : plans_.step->Run(feeds);
    if (summarised != nullptr && summarised != timeline) *summarised = *timeline;
    last_step_ = step;
    StepResult result;
    result.loss = results[0].scalar<float>();
    if (results.size() == 3) {
      const double batch = static_cast<double>(derived_.batch_size);
      result.top_1_accuracy = results[1].scalar<float>() / batch;
      result.top_5_accuracy = results[2].scalar<float>() / batch;
    }
    result.input_seconds = wait + plans_.step->times().input;
    result.compute_seconds = plans_.step->times().compute;
    result.exchange_seconds = plans_.step->times().exchange;
    result.update_seconds = plans_.step->times().update;
    return result;
  }

  // Synthetic labels are random; keyed by the batch, so that every evaluation has the same.
  Accuracies Evaluate(int64_t batch) override {
    const int64_t step = session_->step();
    session_->set_step(batch);
    std::vector<Tensor> feeds;
    if (plans_.evaluation == nullptr) feeds.push_back(Tensor::Scalar<float>(0));  // the rate
    if (eval_input_ != nullptr)
      for (Tensor& fed : eval_input_->At(batch)) feeds.push_back(std::move(fed));
    const std::vector<Tensor> counts = (plans_.evaluation != nullptr ? plans_.evaluation : plans_.step)->Run(feeds);
    session_->set_step(step);
    const size_t first = counts.size() - 2;
    const double images = static_cast<double>(derived_.eval_batch_size);
    return {counts[first].scalar<float>() / images, counts[first + 1].scalar<float>() / images};
  }

  std::optional<LoadedCheckpoint> LoadCheckpoint() override {
    if (eval_dir_ == nullptr) eval_dir_ = std::make_unique<EvalDir>(params_, *built_, *session_);
    return eval_dir_->Load();
  }

  void AfterEvaluation(int64_t global_step, const Accuracies& accuracies) override {
    if (!WritesEvalDir(params_)) {
      if (train_dir_ != nullptr) train_dir_->WriteEvaluation(global_step, accuracies);
      return;
    }
    if (eval_dir_ == nullptr) eval_dir_ = std::make_unique<EvalDir>(params_, *built_, *session_);
    eval_dir_->Write(global_step, accuracies);
  }

  std::string GraphDef(bool as_text) override {
    const Graph placed = session_->PlacedGraph();
    return as_text ? GraphToGraphDefText(placed) : GraphToGraphDef(placed);
  }

  std::vector<Graph> PartitionGraphs() override { return plans_.step->PartitionGraphs(); }

  std::string FirstNonFinite() override {
    if (params_.forward_only) return "";
    session_->set_step(last_step_);
    Feeds feeds;
    for (size_t i = 0; i < fed_.size(); ++i) feeds.emplace_back(built_->inputs[i], fed_[i]);
    return train::FirstNonFinite(*session_, *built_->graph, built_->fetches[0], feeds).value_or("");
  }

 private:
  std::vector<std::string> InputNotes() const {
    std::vector<std::string> notes;
    const auto add_missing = [&](data::Subset subset) {
      for (std::string& note : MissingInputNotes(params_, derived_, subset)) notes.push_back(std::move(note));
    };
    if (input_ != nullptr) add_missing(data::Subset::kTrain);
    if (eval_input_ == nullptr) return notes;
    add_missing(data::Subset::kValidation);
    if (const std::string coverage = eval_input_->CoverageNote(); !coverage.empty()) notes.push_back(coverage);
    return notes;
  }
  std::string PrecisionNote() const {
    const DType dtype = params_.use_fp16 ? DType::kFloat16 : DType::kBFloat16;
    if ((!params_.use_fp16 && !own_.use_bf16) || HasInstructionsFor(dtype)) return "";
    return fmt::format("{} is computed in float32 on this CPU: values are rounded and stored as {}", DTypeName(dtype),
                       DTypeName(dtype));
  }

  const BenchParams& params_;
  const OwnParams& own_;
  const Derived& derived_;
  const BatchMemory memory_;
  std::unique_ptr<TrainInput> input_;      // null: synthetic data
  std::unique_ptr<EvalInput> eval_input_;  // null: as above, or there is no evaluation
  std::vector<Tensor> fed_;                // input of the last step
  std::unique_ptr<TrainGraph> built_;
  std::unique_ptr<Session> session_;
  StepPlans plans_;
  std::unique_ptr<TrainDir> train_dir_;  // before the session goes
  std::unique_ptr<EvalDir> eval_dir_;
  int64_t last_step_ = 0;
};

}  // namespace

std::unique_ptr<StepRunner> MakeModelRunner(const RunnerRequest& request) {
  return std::make_unique<ModelRunner>(request);
}

int64_t LargestBatchSize(const BenchParams& params, const OwnParams& own) {
  CheckParams(params);
  CheckSupported(params, own);
  const Derived derived = Derive(params);
  OwnParams sparing = own;
  sparing.host_memory_limit_mb = train::SparingHostLimitMb(own.host_memory_limit_mb);
  return BatchMemory(params, sparing, derived, DevicesOf(params, own, derived)).LargestBatch();
}

}  // namespace muster::bench
