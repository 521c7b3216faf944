#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/standard_output.h"
#include "bench/loop.h"
#include "muster/error.h"

namespace muster::bench {

// An engine that takes exactly as long as it is told, on a clock that it moves itself.
struct Fake {
  double now = 100;
  double step_seconds = 0.5;
  std::vector<double> losses;  // of the steps in order; the last one stays
  int64_t cancel_at = -1;      // global step in which Ctrl-C arrives
  int64_t fail_at = -1;        // global step that fails
  std::vector<StepInput> steps;
  int prepared = 0;
  bool interrupt_preparing = false;           // Ctrl-C arrives while the graph is initialised
  bool cancel_preparing = false;              // and the engine gives up
  std::vector<double> accuracies;             // top-1 of the evaluations in order; the last one stays
  std::vector<LoadedCheckpoint> checkpoints;  // that appear one after another; the last one stays
  size_t evaluations = 0, loads = 0;
  int64_t interrupt_after_evaluations = -1;
  int64_t resumed = 0;  // steps of an earlier run
  bool has_begun = false;
  std::string checkpoint;  // the newest at the end
  std::string load_error;  // of a checkpoint
};

class FakeRunner : public StepRunner {
 public:
  explicit FakeRunner(Fake& fake) : fake_(fake) {}

  PreparedRun Prepare() override {
    if (fake_.interrupt_preparing) RequestInterrupt();
    if (fake_.cancel_preparing) throw Error(Code::kCancelled, "interrupted");
    ++fake_.prepared;
    fake_.now += 1;
    return {
        .planned_peak_bytes = 3 << 20, .counted_bytes = 2 << 20, .num_threads = 2, .libraries = {{"oneDNN", "3.2.0"}}};
  }

  int64_t Resume() override { return fake_.resumed; }
  void Begin() override { fake_.has_begun = true; }
  std::string End(int64_t) override { return fake_.checkpoint; }

  StepResult RunStep(const StepInput& input) override {
    if (input.global_step == fake_.fail_at) throw Internal("kernel failed");
    if (input.global_step == fake_.cancel_at) {
      RequestInterrupt();
      throw Error(Code::kCancelled, "interrupted");
    }
    fake_.steps.push_back(input);
    if (input.timeline != nullptr)
      input.timeline->spans.push_back({.name = "a", .op = "Add", .device = "/cpu:0", .stream = "compute"});
    fake_.now += fake_.step_seconds;
    StepResult result;
    const size_t step = static_cast<size_t>(input.global_step);
    if (!fake_.losses.empty()) result.loss = fake_.losses[std::min(step, fake_.losses.size() - 1)];
    result.top_1_accuracy = 0.25;
    result.top_5_accuracy = 0.5;
    result.compute_seconds = fake_.step_seconds / 2;
    return result;
  }

  Accuracies Evaluate(int64_t) override {
    fake_.now += fake_.step_seconds;
    const double top_1 =
        fake_.accuracies.empty() ? 0 : fake_.accuracies[std::min(fake_.evaluations, fake_.accuracies.size() - 1)];
    return {top_1, 0.75};
  }
  std::optional<LoadedCheckpoint> LoadCheckpoint() override {
    if (!fake_.load_error.empty()) throw Error(Code::kDataLoss, fake_.load_error);
    if (fake_.checkpoints.empty()) return std::nullopt;
    return fake_.checkpoints[std::min(fake_.loads++, fake_.checkpoints.size() - 1)];
  }
  void AfterEvaluation(int64_t, const Accuracies&) override {
    if (static_cast<int64_t>(++fake_.evaluations) == fake_.interrupt_after_evaluations) RequestInterrupt();
  }

  std::string GraphDef(bool as_text) override { return as_text ? "text" : "binary"; }
  std::vector<Graph> PartitionGraphs() override {
    std::vector<Graph> graphs(1);
    graphs[0].Add({.kind = OpKind::kNoOp,
                   .name = "nothing",
                   .device = DeviceName::Parse("/job:localhost/replica:0/task:0/device:CPU:0")});
    return graphs;
  }
  std::string FirstNonFinite() override { return "the output of v0/conv1/Conv2D (Conv2D) holds -inf"; }

 private:
  Fake& fake_;
};

class RecordingConsole : public Console {
 public:
  void Print(const std::string& line) override {
    if (line == broken_at) throw OutputError(Code::kUnavailable, "cannot write standard output: Broken pipe");
    lines.push_back(line);
  }
  void Note(const std::string& line) override { notes.push_back(line); }
  void Progress(const std::string& text) override { progress.push_back(text); }

  std::vector<std::string> lines, notes, progress;
  std::string broken_at = "never";  // the line at which standard output ends
};

class LoopTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "muster_bench_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    params_.model = "lenet";
    params_.batch_size = 8;
    params_.num_batches = 4;
    params_.num_warmup_batches = 2;
    params_.display_every = 2;
    fake_.losses = {7};
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  BenchResult RunIt() {
    InterruptScope interrupts;
    const auto factory = [this](const RunnerRequest&) { return std::make_unique<FakeRunner>(fake_); };
    return bench::Run(params_, own_, factory,
                      {.console = console_, .clock = [this] { return fake_.now; }, .words = {"--x"}});
  }

  std::string ErrorOfRun() {
    try {
      RunIt();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  nlohmann::json Json() const { return nlohmann::json::parse(ReadFile(folder_ + "/r.json")); }
  std::vector<std::string> LinesFrom(const std::string& first) const {
    return {std::find(console_.lines.begin(), console_.lines.end(), first), console_.lines.end()};
  }

  std::string folder_;
  BenchParams params_;
  OwnParams own_;
  Fake fake_;
  RecordingConsole console_;
};

}  // namespace muster::bench
