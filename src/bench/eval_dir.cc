#include "bench/eval_dir.h"

#include <algorithm>

#include "base/file.h"
#include "bench/strategy.h"
#include "bench/train_dir.h"
#include "train/checkpoint_folder.h"
#include "train/checkpoint_names.h"

namespace muster::bench {
namespace {

// "run/model.ckpt-50" means that checkpoint, as in the peer; anything else is a folder.
bool NamesACheckpoint(const std::string& path) {
  const size_t ckpt = path.rfind("ckpt-");
  if (ckpt == std::string::npos) return false;
  const std::string number = path.substr(ckpt + 5);
  return !number.empty() && std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::vector<std::pair<std::string, double>> EvaluationCurves(const Accuracies& accuracies) {
  return {{"eval/Accuracy@1", accuracies.top_1}, {"eval/Accuracy@5", accuracies.top_5}};
}

bool WritesEvalDir(const BenchParams& params) {
  const Mode mode = ModeOf(params);
  return mode == Mode::kEvaluation ||
         (mode == Mode::kTrainingAndEvaluation && params.eval_dir != BenchParams{}.eval_dir);
}

EvalDir::EvalDir(const BenchParams& params, const TrainGraph& graph, Session& session)
    : params_(params),
      session_(session),
      saver_(graph.graph.get(), train::CheckpointVariables(*graph.graph, IsReplicated(params))) {}

std::optional<LoadedCheckpoint> EvalDir::Load() {
  const std::string& given = params_.train_dir.value_or("");
  const bool is_checkpoint = NamesACheckpoint(given);
  const std::string path =
      RestoreFromTrainDir(saver_, session_, is_checkpoint ? "" : given, is_checkpoint ? given : "", "train_dir");
  if (path.empty()) return std::nullopt;
  return LoadedCheckpoint{path, std::max<int64_t>(train::StepOfCheckpoint(path), 0)};
}

void EvalDir::Write(int64_t global_step, const Accuracies& accuracies) {
  if (!summaries_) {
    CreateWritableFolder(params_.eval_dir);
    summaries_.emplace(params_.eval_dir, session_.PlacedGraph());
  }
  summaries_->Scalars(global_step, EvaluationCurves(accuracies));
  summaries_->Flush();
}

}  // namespace muster::bench
