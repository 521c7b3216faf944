#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "muster/models.h"
#include "muster/saver.h"
#include "muster/session.h"
#include "train/memory_fit.h"
#include "train/options.h"
#include "train/train_step.h"

namespace muster::train {

// What the model is trained on.
struct TrainingData {
  Shape image_shape;  // height, width, channels
  int num_classes = 0;
  int64_t train_images = 0;
};

// The model that "muster train" calls by this name: that of the MNIST set, else that of CIFAR-10, else of ImageNet.
// All take images of any size that their layers leave something of. Throws InvalidArgument with the name that was
// probably meant and the known names.
const Model& FindTrainModel(const std::string& name);

// The engine behind the trainer: a graph with a training and an evaluation tower that share their variables, and a
// session that replays one plan for each. Random numbers of the graph (dropout) are keyed by the number of training
// steps done, so evaluations do not shift them.
class GraphTrainStep : public TrainStep {
 public:
  // Builds the graph, compiles all plans and gives the variables their first values. Throws Error, for example if a
  // batch does not fit into memory or the images are too small for the model, and Error{Cancelled} after an interrupt.
  GraphTrainStep(const TrainOptions& options, const TrainingData& data);
  ~GraphTrainStep() override;

  StepResult Train(const data::Batch& batch) override;
  EvalResult Evaluate(const data::Batch& batch) override;
  std::string ExplainNonFinite(int64_t step, const data::BatchSource& batches) override;

  // The largest options.batch_size that fits, at most all training images. Throws Error{ResourceExhausted} if not one
  // does.
  static int64_t LargestBatchSize(const TrainOptions& options, const TrainingData& data);

  // Steps of the training plan that run again in the backward pass, and what they add.
  const PlanStats& train_stats() const { return train_->stats(); }
  // Goes on from a checkpoint: the newest of a folder, or "path" if it is not empty (see RestoreNewest). Returns the
  // path; "" if there is none, and then nothing changed (but see CheckNothingIsUnlisted).
  std::string Restore(Saver& saver, const std::string& folder, const std::string& path);
  // Training steps done.
  int64_t step() const { return step_; }

  // The timeline of the next training step, which takes a little longer for it.
  void TraceNext(Timeline* timeline) { traced_ = timeline; }
  // The images of the last training step; only while summaries are written (WatchImages).
  const Tensor& images() const { return last_images_; }
  void WatchImages() { keeps_images_ = true; }

  // If summaries show gradients (summary_verbosity of at least 2), a training step whose number (1 for the first)
  // save_summaries_steps divides first computes its gradients apart, in a plan of their own, so that the training has
  // the same bits as without. These are of the last such step: one per trainable variable that has one, in the order of
  // watched_variables().
  const std::vector<Tensor>& gradients() const { return gradient_values_; }
  const std::vector<Variable>& watched_variables() const { return watched_; }

  // Memory of all plans: variables, optimizer slots, gradients, activations, constants and inputs.
  int64_t planned_peak_bytes() const;
  // The same and all else that the process takes: what it held when the plans were ready, batches
  // that are prepared ahead, and the snapshot for losses that are not finite.
  int64_t planned_process_bytes() const;
  int64_t trainable_parameters() const;
  const Graph& graph() const { return graph_; }
  Session& session() { return *session_; }

 private:
  // Compiles, but takes no memory for variables and activations.
  struct PlanOnly {
    Recompute recompute = Recompute::kNone;
  };
  GraphTrainStep(const TrainOptions& options, const TrainingData& data, PlanOnly);

  // The state of the model after "step" steps.
  struct Snapshot {
    int64_t step = 0;
    std::vector<Tensor> variables;
  };

  void BuildTraining(const TrainOptions& options, const TrainingData& data);
  void BuildEvaluation(const TrainOptions& options, const TrainingData& data);
  void Compile(const SessionOptions& options);
  MemoryNeeds Needs() const;
  // What another value of one of the batch sizes would need.
  static PlanMemory PlanFor(const TrainOptions& options, const TrainingData& data, int64_t TrainOptions::*size,
                            Recompute recompute);
  static Recompute ModeOf(const TrainOptions& options);
  void CheckMemory(const TrainOptions& options, const TrainingData& data) const;
  int64_t StateBytes() const;
  // The plans that stay to the end.
  std::vector<const PlanStats*> Plans() const;
  void TakeSnapshot();
  void ComputeGradients(const data::Batch& batch);
  std::vector<Tensor> RunTraining(const data::Batch& batch);
  std::string ReplayTo(int64_t step, const data::BatchSource& batches);

  Graph graph_;
  Schedule schedule_;
  int64_t host_limit_ = 0;  // bytes
  int64_t step_ = 0;

  // Nodes of the training and the evaluation tower.
  Output images_, labels_, loss_, correct_;
  NodeId train_op_ = kNoNode;
  Output eval_images_, eval_labels_, eval_losses_, eval_correct_;

  std::unique_ptr<Session> session_;
  std::unique_ptr<Runner> train_;  // before the session goes
  std::unique_ptr<Runner> evaluate_;
  std::unique_ptr<Runner> compute_gradients_;  // null: nobody watches them

  std::vector<Variable> watched_;
  std::vector<Output> gradients_;
  std::vector<Tensor> gradient_values_;
  int64_t watch_every_ = 0;     // 0: nobody watches gradients
  Timeline* traced_ = nullptr;  // of the next step; null: not wanted
  bool keeps_images_ = false;
  Tensor last_images_;

  int64_t held_bytes_ = 0;      // by the program when the plans were ready
  int64_t prepared_bytes_ = 0;  // batches that wait for their step
  bool keeps_snapshots_ = false;
  std::optional<Snapshot> snapshot_;
};

}  // namespace muster::train
