#include "bench/loop.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/standard_output.h"
#include "bench/benchmark_log.h"
#include "bench/flags.h"
#include "bench/json_text.h"
#include "bench/run_files.h"
#include "muster/error.h"
#include "tests/testing/golden.h"

namespace muster::bench {
namespace {

// An engine that takes exactly as long as it is told, on a clock that it moves itself.
struct Fake {
  double now = 100;
  double step_seconds = 0.5;
  std::vector<double> losses;  // of the steps in order; the last one stays
  int64_t cancel_at = -1;      // global step in which Ctrl-C arrives
  int64_t fail_at = -1;        // global step that fails
  std::vector<StepInput> steps;
  int prepared = 0;
  bool interrupt_preparing = false;  // Ctrl-C arrives while the graph is initialised
  bool cancel_preparing = false;     // and the engine gives up
  std::vector<double> accuracies;    // top-1 of the evaluations in order; the last one stays
  std::vector<LoadedCheckpoint> checkpoints;  // that appear one after another; the last one stays
  size_t evaluations = 0, loads = 0;
  int64_t interrupt_after_evaluations = -1;
};

class FakeRunner : public StepRunner {
 public:
  explicit FakeRunner(Fake& fake) : fake_(fake) {}

  PreparedRun Prepare() override {
    if (fake_.interrupt_preparing) RequestInterrupt();
    if (fake_.cancel_preparing) throw Error(Code::kCancelled, "interrupted");
    ++fake_.prepared;
    fake_.now += 1;
    return {.planned_peak_bytes = 3 << 20, .num_threads = 2, .libraries = {{"oneDNN", "3.2.0"}}};
  }

  StepResult RunStep(const StepInput& input) override {
    if (input.global_step == fake_.fail_at) throw Internal("kernel failed");
    if (input.global_step == fake_.cancel_at) {
      RequestInterrupt();
      throw Error(Code::kCancelled, "interrupted");
    }
    fake_.steps.push_back(input);
    if (input.timeline != nullptr) input.timeline->spans.push_back({.name = "a", .op = "Add", .device = "/cpu:0", .stream = "compute"});
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
    const double top_1 = fake_.accuracies.empty() ? 0 : fake_.accuracies[std::min(fake_.evaluations, fake_.accuracies.size() - 1)];
    return {top_1, 0.75};
  }
  std::optional<LoadedCheckpoint> LoadCheckpoint() override {
    if (fake_.checkpoints.empty()) return std::nullopt;
    return fake_.checkpoints[std::min(fake_.loads++, fake_.checkpoints.size() - 1)];
  }
  void AfterEvaluation(int64_t, const Accuracies&) override {
    if (static_cast<int64_t>(++fake_.evaluations) == fake_.interrupt_after_evaluations) RequestInterrupt();
  }

  std::string GraphDef(bool as_text) override { return as_text ? "text" : "binary"; }
  std::vector<Graph> PartitionGraphs() override {
    std::vector<Graph> graphs(1);
    graphs[0].Add({.kind = OpKind::kNoOp, .name = "nothing", .device = DeviceName::Parse("/job:localhost/replica:0/task:0/device:CPU:0")});
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

TEST_F(LoopTest, PrintsWhatThePeerPrints) {
  const BenchResult result = RunIt();
  const std::string dashes(64, '-');
  const std::vector<std::string> expected = {"Generating training model",
                                             "Initializing graph",
                                             "Running warm up",
                                             "Done warm up",
                                             "Step\tImg/sec\ttotal_loss",
                                             "1\timages/sec: 16.0 +/- 0.0 (jitter = 0.0)\t7.000",
                                             "2\timages/sec: 16.0 +/- 0.0 (jitter = 0.0)\t7.000",
                                             "4\timages/sec: 16.0 +/- 0.0 (jitter = 0.0)\t7.000",
                                             dashes,
                                             "total images/sec: 16.00",
                                             dashes};
  EXPECT_EQ(LinesFrom("Generating training model"), expected);
  EXPECT_EQ(result.state, ExitState::kFinished);
  EXPECT_EQ(result.num_steps, 4);
  EXPECT_DOUBLE_EQ(result.images_per_sec, 16);
  EXPECT_DOUBLE_EQ(result.average_wall_time, 0.5);
  EXPECT_EQ(result.last_average_loss, 7);
}

TEST_F(LoopTest, TrainingPausesToEvaluateAndEvaluatesOnceMoreAtTheEnd) {
  params_.eval_during_training_every_n_steps = 2;
  params_.num_eval_batches = 2;
  fake_.accuracies = {0.5, 1};
  const BenchResult result = RunIt();
  const std::vector<std::string> expected = {"2\timages/sec: 16.0 +/- 0.0 (jitter = 0.0)\t7.000",
                                             "Running evaluation at global_step 4",
                                             "2\t16.0 examples/sec",
                                             "Accuracy @ 1 = 0.5000 Accuracy @ 5 = 0.7500 [16 examples]",
                                             "Resuming training",
                                             "4\timages/sec: 16.0 +/- 0.0 (jitter = 0.0)\t7.000",
                                             "Done with training",
                                             "Running final evaluation at global_step 6",
                                             "2\t16.0 examples/sec",
                                             "Accuracy @ 1 = 1.0000 Accuracy @ 5 = 0.7500 [16 examples]"};
  EXPECT_EQ(LinesFrom(expected[0]), expected);
  EXPECT_EQ(result.accuracies->top_1, 1);
  EXPECT_EQ(result.num_steps, 4);
}

// The case of the peer's own test: the target is reached in the second evaluation, and no other one follows.
TEST_F(LoopTest, AReachedTargetEndsTheTraining) {
  params_.num_batches = 7;
  params_.display_every = 1;
  params_.eval_during_training_every_n_steps = 2;
  params_.stop_at_top_1_accuracy = 0.4;
  fake_.accuracies = {0.1, 0.5};
  const BenchResult result = RunIt();
  EXPECT_EQ(result.num_steps, 4);
  EXPECT_EQ(fake_.evaluations, 2u);
  EXPECT_EQ(console_.lines[console_.lines.size() - 2], "Stopping, as eval accuracy at least 0.4 was reached");
  EXPECT_EQ(console_.lines.back(), "Done with training");
}

TEST_F(LoopTest, ACheckpointIsEvaluatedAlone) {
  params_.eval = true;
  params_.train_dir = folder_;
  params_.eval_dir = folder_ + "/eval";
  own_.json = folder_ + "/r.json";
  fake_.checkpoints = {{"t/model.ckpt-50", 50}};
  fake_.accuracies = {0.25};
  const BenchResult result = RunIt();
  const std::string dashes(64, '-');
  const std::vector<std::string> expected = {"Generating evaluation model", "Successfully loaded model from t/model.ckpt-50.", "2\t16.0 examples/sec",
                                             "4\t16.0 examples/sec", "Accuracy @ 1 = 0.2500 Accuracy @ 5 = 0.7500 [32 examples]", dashes,
                                             "total images/sec: 16.00", dashes};
  EXPECT_EQ(LinesFrom("Generating evaluation model"), expected);
  EXPECT_TRUE(fake_.steps.empty());
  EXPECT_DOUBLE_EQ(result.images_per_sec, 16);
  EXPECT_EQ(Json().at("evaluations").at(0).at("checkpoint"), "t/model.ckpt-50");
  EXPECT_EQ(Json().at("evaluations").at(0).at("top_1_accuracy"), 0.25);
  EXPECT_EQ(Json().at("images_per_sec"), 16);
}

TEST_F(LoopTest, AFolderWithoutACheckpointIsNoFailure) {
  params_.eval = true;
  params_.train_dir = "nothing_here";
  EXPECT_EQ(RunIt().state, ExitState::kFinished);
  EXPECT_EQ(console_.lines.back(), "Checkpoint not found in nothing_here");
}

// Two checkpoints, a second apart; then Ctrl-C.
TEST_F(LoopTest, WithAnIntervalTheNewestCheckpointIsEvaluatedAgainAndAgain) {
  params_.eval = true;
  params_.train_dir = folder_;
  params_.eval_dir = folder_ + "/eval";
  params_.eval_interval_secs = 1;
  fake_.checkpoints = {{"t/model.ckpt-5", 5}, {"t/model.ckpt-6", 6}};
  fake_.interrupt_after_evaluations = 2;
  EXPECT_EQ(RunIt().state, ExitState::kInterrupted);
  const auto count = [&](const std::string& line) { return std::count(console_.lines.begin(), console_.lines.end(), line); };
  EXPECT_EQ(count("Successfully loaded model from t/model.ckpt-5."), 1);
  EXPECT_EQ(count("Successfully loaded model from t/model.ckpt-6."), 1);
  EXPECT_EQ(console_.notes.back(), "interrupted after 2 evaluations");
}

TEST_F(LoopTest, ThePlannedPeakIsShownBeforeTheFirstStep) {
  RunIt();
  ASSERT_FALSE(console_.notes.empty());
  EXPECT_EQ(console_.notes.back(), "memory plan: peak 3.0 MiB; 2 threads");
}

TEST_F(LoopTest, TheLastWarmUpStepButOneIsTraced) {
  params_.num_warmup_batches = 3;
  params_.trace_file = folder_ + "/trace.json";
  RunIt();
  std::vector<bool> traced;
  for (const StepInput& step : fake_.steps) traced.push_back(step.timeline != nullptr);
  EXPECT_EQ(traced, (std::vector<bool>{false, true, false, false, false, false, false}));
  EXPECT_EQ(LinesFrom("Running warm up")[1], "Dumping trace to " + params_.trace_file);
  EXPECT_NE(ReadFile(params_.trace_file).find("\"traceEvents\""), std::string::npos);
}

TEST_F(LoopTest, TheFirstTenTimedStepsAreProfiled) {
  params_.num_batches = 12;
  params_.num_warmup_batches = 2;
  params_.tfprof_file = folder_ + "/profile.pb";
  RunIt();
  ASSERT_EQ(fake_.steps.size(), 14u);
  for (size_t i = 0; i < fake_.steps.size(); ++i) EXPECT_EQ(fake_.steps[i].timeline != nullptr, i >= 2 && i < 12) << i;
  EXPECT_EQ(LinesFrom("Dumping ProfileProto to " + *params_.tfprof_file).size(), 2u);
  EXPECT_FALSE(ReadFile(*params_.tfprof_file).empty());
}

TEST_F(LoopTest, TheGraphsOfDevicesAreWrittenBehindTheLastWarmUpStepButOne) {
  params_.num_warmup_batches = 3;
  params_.partitioned_graph_file_prefix = folder_ + "/part.txt";
  RunIt();
  const std::string file = folder_ + "/part_job_localhost_replica_0_task_0_device_CPU_0.txt";
  EXPECT_EQ(LinesFrom("Running warm up")[1], "Writing partitioned GraphDef as text to " + file);
  EXPECT_NE(ReadFile(file).find("op: \"NoOp\""), std::string::npos);
  params_.num_warmup_batches = 1;
  RunIt();
  EXPECT_NE(console_.notes.end(), std::find_if(console_.notes.begin(), console_.notes.end(),
                                               [](const std::string& note) { return note.find("no graphs of devices are written") == 0; }));
}

TEST(PartitionFile, KeepsFolderAndExtension) {
  EXPECT_EQ(PartitionFile("/a.b/graph", "/device:GPU:0"), "/a.b/graph_device_GPU_0");
  EXPECT_EQ(PartitionFile("graph.part.pb", "/device:GPU:1"), "graph.part_device_GPU_1.pb");
}

TEST_F(LoopTest, ATraceCanBeStepStats) {
  params_.trace_file = folder_ + "/trace.txt";
  params_.use_chrome_trace_format = false;
  RunIt();
  EXPECT_EQ(ReadFile(params_.trace_file).rfind("dev_stats {", 0), 0u);
}

TEST_F(LoopTest, WithoutTwoWarmUpStepsThereIsNoTraceAndANoteSaysSo) {
  params_.num_warmup_batches = 1;
  params_.trace_file = folder_ + "/trace.json";
  RunIt();
  EXPECT_FALSE(std::filesystem::exists(params_.trace_file));
  EXPECT_NE(std::find_if(console_.notes.begin(), console_.notes.end(),
                         [](const std::string& note) { return note.find("no trace is written") == 0; }),
            console_.notes.end());
}

TEST_F(LoopTest, TheGraphIsTextIfTheNameSaysSo) {
  params_.graph_file = folder_ + "/graph.pbtxt";
  RunIt();
  EXPECT_EQ(ReadFile(*params_.graph_file), "text");
  EXPECT_EQ(LinesFrom("Initializing graph")[1], "Writing GraphDef as text to " + *params_.graph_file);
  params_.graph_file = folder_ + "/graph.pb";
  RunIt();
  EXPECT_EQ(ReadFile(*params_.graph_file), "binary");
}

TEST_F(LoopTest, ATraceThatCannotBeWrittenIsRefusedBeforeAnythingRuns) {
  params_.trace_file = folder_ + "/missing/trace.json";
  EXPECT_NE(ErrorOfRun().find("--trace_file"), std::string::npos);
  EXPECT_EQ(fake_.prepared, 0);
}

TEST_F(LoopTest, WarmUpStepsTrainAndAdvanceTheGlobalStep) {
  params_.piecewise_learning_rate_schedule = "1;0;.5";
  RunIt();
  ASSERT_EQ(fake_.steps.size(), 6u);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(fake_.steps[i].global_step, static_cast<int64_t>(i));
    EXPECT_FLOAT_EQ(fake_.steps[i].learning_rate, 0.5f);
  }
}

TEST_F(LoopTest, ForwardOnlyShowsAccuraciesAndNoLoss) {
  params_.forward_only = true;
  params_.num_batches = 1;
  RunIt();
  EXPECT_EQ(LinesFrom("Step\tImg/sec\ttotal_loss\ttop_1_accuracy\ttop_5_accuracy").at(1),
            "1\timages/sec: 16.0 +/- 0.0 (jitter = 0.0)\t0.000\t0.250\t0.500");
}

TEST_F(LoopTest, WarmUpIsRoundedUpToGroupsOfBatches) {
  params_.batch_group_size = 4;
  RunIt();
  EXPECT_EQ(LinesFrom("Initializing graph").at(1), "Round up warm up steps to 5 to match batch_group_size");
  EXPECT_EQ(fake_.steps.size(), 9u);
}

TEST_F(LoopTest, ARefusedRequestBuildsNothingAndWritesNothing) {
  own_.json = folder_ + "/r.json";
  params_.num_epochs = 1;
  EXPECT_EQ(ErrorOfRun(), "At most one of --num_batches and --num_epochs may be specified.");
  EXPECT_TRUE(console_.lines.empty());
  EXPECT_EQ(fake_.prepared, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(LoopTest, AnUnwritableResultFileIsFoundBeforeTheRun) {
  own_.json = folder_ + "/no/r.json";
  EXPECT_EQ(ErrorOfRun(), "flag --json: cannot write " + folder_ + "/no/r.json: No such file or directory");
  EXPECT_TRUE(console_.lines.empty());
  EXPECT_EQ(fake_.prepared, 0);
}

TEST_F(LoopTest, AnEvaluationWithoutFolderIsRefusedAfterTheInformationBlock) {
  params_.eval = true;
  EXPECT_EQ(ErrorOfRun(), "Trained model directory not specified");
  EXPECT_EQ(console_.lines.back(), "==========");
}

TEST_F(LoopTest, AMalformedScheduleIsRefusedWhileTheModelIsGenerated) {
  params_.piecewise_learning_rate_schedule = "1;2";
  params_.benchmark_log_dir = folder_ + "/log";
  EXPECT_EQ(ErrorOfRun(), "--piecewise_learning_rate_schedule must have an odd number of components");
  EXPECT_EQ(console_.lines.back(), "Generating training model");
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(LoopTest, ANanStopsWithStepAndLayerIfTheUserChoseTheRate) {
  params_.init_learning_rate = 1e9;
  own_.json = folder_ + "/r.json";
  fake_.losses = {7, 7, 7, std::nan("")};
  EXPECT_EQ(
      ErrorOfRun(),
      "loss is nan at timed step 2 (step 4 of all): the output of v0/conv1/Conv2D (Conv2D) holds -inf first; try a "
      "smaller learning rate, or --check_nan=false to go on");
  EXPECT_EQ(Json().at("exit_state"), "not_finite");
  EXPECT_EQ(Json().at("num_steps"), 2);
  EXPECT_TRUE(Json().at("steps").at("loss").at(1).is_null());
}

TEST_F(LoopTest, ANanAtTheModelsOwnRateIsNotedOnceAndTheRunGoesOn) {
  fake_.losses = {std::nan("")};
  EXPECT_EQ(RunIt().state, ExitState::kFinished);
  int noted = 0;
  for (const std::string& note : console_.notes) noted += note.find("loss is nan at warm-up step 1") == 0;
  EXPECT_EQ(noted, 1);
  own_.check_nan = true;
  EXPECT_NE(ErrorOfRun(), "no error");
  params_.init_learning_rate = 1;
  own_.check_nan = false;
  EXPECT_EQ(ErrorOfRun(), "no error");
}

TEST_F(LoopTest, CtrlCInAStepEndsWithTheTotalSoFar) {
  fake_.cancel_at = 4;  // two warm-up and two timed steps are done
  own_.json = folder_ + "/r.json";
  const BenchResult result = RunIt();
  EXPECT_EQ(result.state, ExitState::kInterrupted);
  EXPECT_EQ(result.num_steps, 2);
  EXPECT_EQ(console_.lines.at(console_.lines.size() - 2), "total images/sec: 16.00");
  EXPECT_EQ(console_.notes.back(), "interrupted after 2 of 2 warm-up and 2 of 4 timed steps");
  EXPECT_EQ(Json().at("exit_state"), "interrupted");
  EXPECT_DOUBLE_EQ(Json().at("images_per_sec"), 16);
}

TEST_F(LoopTest, CtrlCWhileTheGraphIsInitialisedLeavesAResultThatSaysSo) {
  fake_.interrupt_preparing = true;
  own_.json = folder_ + "/r.json";
  for (const bool gives_up : {true, false}) {
    fake_.cancel_preparing = gives_up;
    EXPECT_EQ(RunIt().state, ExitState::kInterrupted);
    EXPECT_EQ(console_.lines.back(), "Initializing graph");
    EXPECT_EQ(console_.notes, std::vector<std::string>{"interrupted before the first step"});
    EXPECT_EQ(Json().at("exit_state"), "interrupted");
    console_.notes.clear();
  }
}

TEST_F(LoopTest, AStandardOutputThatEndsStillLeavesTheResultFile) {
  own_.json = folder_ + "/r.json";
  for (const char* line : {"==========", "Initializing graph", "Done warm up"}) {
    console_.broken_at = line;
    EXPECT_EQ(ErrorOfRun(), "cannot write standard output: Broken pipe") << line;
    EXPECT_EQ(Json().at("exit_state"), "failed") << line;
    std::filesystem::remove(*own_.json);
  }
}

TEST_F(LoopTest, OutputsAreCheckedBeforeAnythingIsPrintedAndNamedByTheirFlag) {
  for (std::optional<std::string>* name : {&own_.json, &own_.dump_passes, &params_.benchmark_log_dir}) {
    *name = "";
    EXPECT_NE(ErrorOfRun().find(name == &own_.json          ? "flag --json=: needs"
                                : name == &own_.dump_passes ? "flag --dump_passes=: needs"
                                                            : "flag --benchmark_log_dir=: needs"),
              std::string::npos);
    name->reset();
  }
  params_.benchmark_log_dir = folder_ + "/log";
  own_.dump_passes = "/proc/none";
  EXPECT_EQ(ErrorOfRun().find("flag --dump_passes: cannot create folder /proc/none: "), 0u);
  EXPECT_TRUE(console_.lines.empty());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(LoopTest, ARunThatIsRefusedOrInterruptedWhilePreparedLeavesNoLogFolder) {
  params_.benchmark_log_dir = folder_ + "/log";
  fake_.interrupt_preparing = true;
  EXPECT_EQ(RunIt().state, ExitState::kInterrupted);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(LoopTest, EachRunStartsTheMetricsAfresh) {
  params_.benchmark_log_dir = folder_ + "/log";
  RunIt();
  const std::string first = ReadFile(folder_ + "/log/metric.log");
  RunIt();
  const std::string second = ReadFile(folder_ + "/log/metric.log");
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 4);
  EXPECT_EQ(std::count(second.begin(), second.end(), '\n'), 4);
}

TEST_F(LoopTest, CtrlCDuringWarmUpHasNoTotal) {
  fake_.cancel_at = 1;
  own_.json = folder_ + "/r.json";
  EXPECT_EQ(RunIt().state, ExitState::kInterrupted);
  EXPECT_EQ(console_.lines.back(), "Running warm up");
  EXPECT_TRUE(Json().at("images_per_sec").is_null());
}

TEST_F(LoopTest, AFailureWhileRunningLeavesAResultThatSaysSo) {
  fake_.fail_at = 3;
  own_.json = folder_ + "/r.json";
  EXPECT_EQ(ErrorOfRun(), "kernel failed");
  EXPECT_EQ(Json().at("exit_state"), "failed");
  EXPECT_EQ(Json().at("error"), "kernel failed");
  EXPECT_EQ(Json().at("num_steps"), 1);
}

TEST_F(LoopTest, TheResultFileHoldsEverythingToRepeatTheRun) {
  own_.json = folder_ + "/r.json";
  params_.print_training_accuracy = true;
  RunIt();
  const nlohmann::json json = Json();
  EXPECT_EQ(json.at("format"), "muster bench 1");
  EXPECT_EQ(json.at("exit_state"), "finished");
  EXPECT_DOUBLE_EQ(json.at("images_per_sec"), 16);
  EXPECT_EQ(json.at("planned_peak_bytes"), 3 << 20);
  EXPECT_GT(json.at("measured_peak_bytes").get<int64_t>(), 0);
  EXPECT_DOUBLE_EQ(json.at("prepare_seconds"), 1);
  EXPECT_EQ(json.at("steps").at("seconds").size(), 4u);
  EXPECT_EQ(json.at("warmup_steps").at("seconds").size(), 2u);
  EXPECT_EQ(json.at("steps").at("top_1_accuracy").at(0), 0.25);
  EXPECT_DOUBLE_EQ(json.at("mean_seconds").at("compute"), 0.25);
  EXPECT_EQ(json.at("software").at("libraries").at("oneDNN"), "3.2.0");
  EXPECT_GT(json.at("machine").at("cpus").get<int>(), 0);
  EXPECT_EQ(json.at("command_line"), nlohmann::json::array({"--x"}));
  const FlagTable table = PeerFlags().Plus(OwnFlags());
  for (const FlagSpec& spec : table.specs()) {
    if (spec.name.starts_with("sweep")) continue;  // many runs, each with a result of its own
    EXPECT_TRUE(json.at("flags").contains(spec.name)) << spec.name;
  }
  const std::string docs = ReadFile(std::string(MUSTER_SOURCE_DIR) + "/docs/bench_json.md");
  for (const auto& [field, value] : json.items()) EXPECT_NE(docs.find("`" + field + "`"), std::string::npos) << field;
}

// Keys, their order and the types of values of a line of JSON.
std::string Form(const nlohmann::ordered_json& value) {
  std::string form;
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) form += key + ":" + Form(item) + ",";
    return "{" + form + "}";
  }
  if (value.is_array()) return "[]";
  return value.is_number() ? "number" : value.type_name();
}

TEST(GoldenBenchmarkLog, HasTheFormOfTheModelGardens) {
  std::string pattern = (std::filesystem::temp_directory_path() / "muster_log_XXXXXX").string();
  const std::string folder = ::mkdtemp(pattern.data());
  BenchParams params;
  params.model = "lenet";
  params.batch_size = 8;
  params.num_batches = 20;
  params.data_format = "NHWC";
  params.benchmark_test_id = "my_test";
  BenchmarkLog log(folder + "/blog");
  log.LogRun(params, Derive(params), ReadMachineFacts());
  log.LogMetric("current_examples_per_sec", 416.5, 1);
  log.LogMetric("average_examples_per_sec", 400, 20);

  using Json = nlohmann::ordered_json;
  const std::string golden_dir = testing::GoldenDir().string() + "/cnn_benchmarks/";
  const std::string run_text = ReadFile(folder + "/blog/benchmark_run.log");
  const Json run = Json::parse(run_text),
             golden = Json::parse(ReadFile(golden_dir + "benchmark_log.benchmark_run.log"));
  EXPECT_EQ(Form(run), Form(golden));
  EXPECT_EQ(run_text, JsonLine(run) + "\n");
  ASSERT_EQ(run.at("run_parameters").size(), golden.at("run_parameters").size());
  for (size_t i = 0; i < golden.at("run_parameters").size(); ++i) {
    const Json& ours = run.at("run_parameters").at(i);
    const Json& theirs = golden.at("run_parameters").at(i);
    const bool masked = theirs.at("name") == "session_config";
    EXPECT_EQ(masked ? Form(ours) : ours.dump(), masked ? Form(theirs) : theirs.dump());
  }

  const std::string metrics = ReadFile(folder + "/blog/metric.log");
  const std::string golden_metrics = ReadFile(golden_dir + "benchmark_log.metric.log");
  EXPECT_EQ(Form(Json::parse(metrics.substr(0, metrics.find('\n')))),
            Form(Json::parse(golden_metrics.substr(0, golden_metrics.find('\n')))));
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 2);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace muster::bench
