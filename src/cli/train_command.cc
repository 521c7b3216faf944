#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/file.h"
#include "base/flags_help.h"
#include "base/interrupt.h"
#include "base/output_flags.h"
#include "base/process_memory.h"
#include "base/standard_output.h"
#include "bench/machine.h"
#include "cli/auto_batch.h"
#include "cli/commands.h"
#include "cli/dispatch.h"
#include "data/cifar/cifar10.h"
#include "data/batch.h"
#include "data/dataset_files.h"
#include "muster/error.h"
#include "train/checkpoint_hook.h"
#include "train/checkpoint_names.h"
#include "train/display.h"
#include "train/flags.h"
#include "train/graph_train_step.h"
#include "train/log_hook.h"
#include "train/result_json.h"
#include "train/summary.h"
#include "train/summary_hook.h"
#include "train/trainer.h"

namespace muster::cli {
namespace {

using train::TrainOptions;
using train::TrainResult;

const char kUsage[] =
    "muster train [flags]: train a convolutional network on images until it reaches a test accuracy\n";

// Before anything else: what cannot be written at the end.
void CheckOutputs(const FlagValues& values) {
  if (values.is_set("json")) CheckJsonFlag("json", values.GetString("json"));
  for (const char* folder : {"train_dir", "checkpoint_dir"})
    if (values.is_set(folder)) CheckFolderFlag(folder, values.GetString(folder));
  if (!values.is_set("json")) return;
  const std::string json = values.GetString("json"), train_dir = values.GetString("train_dir");
  CheckDistinctFiles({{"json", json}, {"checkpoint_dir", values.GetString("checkpoint_dir")}});
  if (train_dir.empty()) return;
  for (const char* name : {"", "/train.json", "/log.jsonl", "/checkpoint"})
    CheckDistinctFiles({{"json", json}, {"train_dir", train_dir + name}});
}

void WriteResult(const TrainOptions& options, const train::RunFacts& facts, const TrainResult& result) {
  const std::string text = train::ResultJson(options, facts, result).Text();
  if (!options.json_path.empty()) WriteFileAtomically(options.json_path, text);
  if (options.train_dir.empty()) return;
  CreateWritableFolder(options.train_dir);
  WriteFileAtomically(options.train_dir + "/train.json", text);
}

std::string Opening(const TrainOptions& options, const train::RunFacts& facts) {
  const std::vector<int64_t>& shape = facts.image_shape;
  return fmt::format(
      "Training {} ({} parameters) on {} ({} images of {}x{}x{}, {} to test), batch {}, {}, {:.0f} MiB planned\n",
      options.model, facts.trainable_parameters, options.dataset, facts.train_images, shape[0], shape[1], shape[2],
      facts.test_images, options.batch_size, options.optimizer.name,
      static_cast<double>(facts.planned_peak_bytes) / (1 << 20));
}

// What training works on.
struct Loaded {
  data::TrainTest data;
  std::unique_ptr<train::GraphTrainStep> step;
  std::unique_ptr<Saver> saver;
  std::string restored;  // the checkpoint that the run goes on from; "": none
};

// Goes on from a checkpoint if there is one.
void Resume(const TrainOptions& options, Loaded* loaded) {
  if (options.checkpoint_dir.empty() && options.restore_from.empty()) return;
  const SaverOptions saver_options{.max_to_keep =
                                       static_cast<int>(std::min<int64_t>(options.max_ckpts_to_keep, 1 << 30))};
  const Graph& graph = loaded->step->graph();
  loaded->saver = std::make_unique<Saver>(&graph, train::CheckpointVariables(graph), saver_options);
  loaded->restored = loaded->step->Restore(*loaded->saver, options.checkpoint_dir, options.restore_from);
}

// Reads the data, builds and compiles the model, and notes what it learns in "facts". False if interrupted.
bool Load(TrainOptions& options, const data::DatasetFiles& files, Loaded* loaded, train::RunFacts* facts) try {
  loaded->data = data::BuildPipeline(data::ReadTrainTest(files), options.pipeline);
  const data::Dataset& train = *loaded->data.train;
  const auto dims = train.image_shape().dims();
  facts->train_images = train.size();
  facts->test_images = loaded->data.test->size();
  facts->image_shape = {dims.begin(), dims.end()};
  facts->num_classes = train.num_classes();
  const train::TrainingData shape{train.image_shape(), train.num_classes(), train.size()};
  if (options.batch_is_largest) options.batch_size = train::GraphTrainStep::LargestBatchSize(options, shape);
  loaded->step = std::make_unique<train::GraphTrainStep>(options, shape);
  facts->trainable_parameters = loaded->step->trainable_parameters();
  facts->planned_peak_bytes = loaded->step->planned_process_bytes();
  Resume(options, loaded);
  return true;
} catch (const Error& error) {
  if (error.code() != Code::kCancelled || !Interrupted()) throw;
  return false;
}

train::RunFacts FactsOf(const data::DatasetFiles& files) {
  const bench::MachineFacts machine = bench::ReadMachineFacts();
  return {.host = machine.host,
          .cpu_model = machine.cpu_model,
          .num_cpus = machine.num_cpus,
          .dataset_folder = files.folder.string()};
}

// Ctrl-C, or a standard output that takes no more (its reader went away): the result is still written, and Dispatch
// reports the output.
bool MustEnd() { return Interrupted() || std::ferror(stdout) != 0; }

// What watches the run, in order.
struct Hooks {
  std::unique_ptr<train::Hook> display;
  std::unique_ptr<train::Checkpointer> checkpointer;
  std::unique_ptr<train::Hook> checkpoints, summaries, log;

  std::vector<train::Hook*> all() const {
    std::vector<train::Hook*> hooks;
    for (train::Hook* hook : {display.get(), checkpoints.get(), summaries.get(), log.get()})
      if (hook != nullptr) hooks.push_back(hook);
    return hooks;
  }
};

Hooks MakeHooks(const TrainOptions& options, const Loaded& loaded, train::Console& console, const train::Clock& clock) {
  Hooks hooks;
  hooks.display = train::MakeDisplay(console, clock, options.display_every);
  if (!options.checkpoint_dir.empty()) {
    CreateWritableFolder(options.checkpoint_dir);
    const train::CheckpointOptions when{options.checkpoint_dir, options.save_model_steps,
                                        static_cast<double>(options.save_model_secs)};
    hooks.checkpointer = std::make_unique<train::Checkpointer>(*loaded.saver, loaded.step->session(), when, clock);
    hooks.checkpoints = std::make_unique<train::CheckpointHook>(*hooks.checkpointer);
  }
  if (options.save_summaries_steps > 0 && options.summary_verbosity > 0) {
    CreateWritableFolder(options.train_dir);
    hooks.summaries = std::make_unique<train::SummaryHook>(*loaded.step, options);
  }
  if (!options.train_dir.empty()) {
    CreateWritableFolder(options.train_dir);
    hooks.log = std::make_unique<train::LogHook>(options.train_dir + "/log.jsonl", clock, options.display_every);
  }
  return hooks;
}

// What a run that was interrupted leaves.
std::string Saved(const train::Checkpointer& checkpointer, const Loaded& loaded, int64_t steps) {
  const std::string& newest = checkpointer.newest().empty() ? loaded.restored : checkpointer.newest();
  return newest.empty() ? "Nothing is saved: no step was done\n"
                        : fmt::format("The newest checkpoint is {} ({} steps done)\n", newest, steps);
}

TrainResult Train(const TrainOptions& options, const Loaded& loaded, train::Console& console,
                  const train::Clock& clock) {
  const Hooks hooks = MakeHooks(options, loaded, console, clock);
  const data::TrainBatches train_batches(*loaded.data.train, options.batch_size, options.seed);
  const data::EvalBatches test_batches(*loaded.data.test, options.eval_batch_size);
  const train::TrainerOptions trainer_options{.num_epochs = options.num_epochs,
                                              .first_step = loaded.step->step(),
                                              .target_accuracy = options.target_accuracy,
                                              .eval_every_n_epochs = options.eval_every_n_epochs,
                                              .check_nan = options.check_nan,
                                              .prefetch_threads = options.prefetch_threads,
                                              .prefetch_depth = options.prefetch_depth,
                                              .interrupted = MustEnd};
  const TrainResult result =
      train::Trainer(*loaded.step, train_batches, test_batches, trainer_options, clock, hooks.all()).Run();
  if (result.outcome == train::Outcome::kInterrupted && hooks.checkpointer != nullptr)
    console.Write(Saved(*hooks.checkpointer, loaded, result.steps));
  return result;
}

// The result of a run that ended before its first step.
TrainResult NothingTrained(const TrainOptions& options, const train::Clock& clock) {
  const double now = clock.Seconds();
  return {.outcome = train::Outcome::kInterrupted,
          .target_accuracy = options.target_accuracy,
          .first_step_at_seconds = now,
          .end_at_seconds = now};
}

int ExitCode(const TrainResult& result) {
  if (result.outcome == train::Outcome::kInterrupted) return kInterruptedExitCode;
  return result.target_accuracy > 0 && !result.time_to_accuracy() ? kFailure : kSuccess;
}

// What the data set lacks, though it can be used.
std::string MissingFiles(const data::DatasetFiles& files) {
  std::string text;
  if (files.name != "cifar10") return text;
  for (const data::Subset subset : {data::Subset::kTrain, data::Subset::kValidation})
    for (const std::string& line : data::MissingCifar10Files(files.folder, subset))
      text += line + "; the run goes on with those that are there\n";
  return text;
}

int Run(TrainOptions options) {
  const train::ProcessClock clock;
  train::FindTrainModel(options.model);
  const data::DatasetFiles files = data::FindDatasetFiles(options.dataset);
  train::RunFacts facts = FactsOf(files);
  const auto console = train::StandardOutput();
  Loaded loaded;
  TrainResult result = NothingTrained(options, clock);
  if (Load(options, files, &loaded, &facts)) {
    console->Write(Opening(options, facts) + MissingFiles(files));
    if (const std::string note = train::RecomputeNote(loaded.step->train_stats()); !note.empty())
      console->Write(note + "\n");
    if (const std::string note = train::HostLimitNote(options.host_memory_limit_mb); !note.empty())
      console->Write(note + "\n");
    if (!loaded.restored.empty())
      console->Write(fmt::format("Going on from {} ({} steps done)\n", loaded.restored, loaded.step->step()));
    result = Train(options, loaded, *console, clock);
  }
  console->Write(train::SummaryText(result));
  facts.measured_peak_bytes = PeakOwnBytes();
  WriteResult(options, facts, result);
  return ExitCode(result);
}

}  // namespace

int TrainCommand(const std::vector<std::string>& words) {
  const FlagTable table = train::TrainFlags();
  std::vector<std::string> numbers = words;
  const bool batch_is_largest = TakeAutoBatch(&numbers);
  const FlagValues values = ParseFlags(table, numbers);
  if (values.help() || values.helpfull()) {
    const std::string text = values.help() ? HelpText(kUsage, table) : HelpFullText(kUsage, table);
    WriteStandardOutput(text);
    return kSuccess;
  }
  RejectPositional(values);
  TrainOptions options = train::OptionsFromFlags(values);
  options.batch_is_largest = batch_is_largest;
  if (batch_is_largest) options.flag_words = words;
  CheckOutputs(values);
  InterruptScope interrupts;
  return Run(std::move(options));
}

}  // namespace muster::cli
