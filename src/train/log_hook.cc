#include "train/log_hook.h"

#include "base/json.h"

namespace muster::train {
namespace {

void Write(OutputFile& file, const Json& line) {
  file.Append(line.Line() + "\n");
  file.Flush();
}

}  // namespace

LogHook::LogHook(const std::string& path, const Clock& clock, int64_t every_steps)
    : file_(path, OutputFile::Mode::kExclusive), clock_(clock), every_steps_(every_steps) {}

void LogHook::Begin(const Progress& progress) {
  Write(file_, {{"event", "begin"},
                {"at_seconds", clock_.Seconds()},
                {"step", progress.step},
                {"total_steps", progress.total_steps},
                {"num_epochs", progress.num_epochs}});
}

void LogHook::AfterStep(const Progress& progress) {
  if (every_steps_ <= 0 || progress.step % every_steps_ != 0) return;
  Write(file_, {{"event", "step"},
                {"at_seconds", clock_.Seconds()},
                {"step", progress.step},
                {"epoch", progress.epoch},
                {"loss", progress.step_loss},
                {"accuracy", progress.step_accuracy},
                {"learning_rate", progress.learning_rate},
                {"images_per_sec", progress.images_per_sec}});
}

void LogHook::AfterEvaluation(const Progress&, const Evaluation& evaluation) {
  Write(file_, {{"event", "evaluation"},
                {"at_seconds", evaluation.at_seconds},
                {"step", evaluation.step},
                {"epoch", evaluation.epoch},
                {"train_loss", evaluation.train_loss},
                {"train_accuracy", evaluation.train_accuracy},
                {"test_loss", evaluation.test_loss},
                {"test_accuracy", evaluation.test_accuracy},
                {"learning_rate", evaluation.learning_rate},
                {"images_per_sec", evaluation.images_per_sec},
                {"train_seconds", evaluation.train_seconds},
                {"eval_seconds", evaluation.eval_seconds},
                {"input_wait_share", evaluation.input_wait_share}});
}

void LogHook::End(const TrainResult& result) {
  Write(file_, {{"event", "end"},
                {"at_seconds", result.end_at_seconds},
                {"step", result.steps},
                {"outcome", OutcomeName(result.outcome)}});
  file_.Close();
}

}  // namespace muster::train
