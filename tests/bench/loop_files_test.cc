// What a run writes: traces, graphs, profiles, the result, the log.

#include "tests/bench/loop_fixture.h"
#include "bench/flags.h"
#include "bench/run_files.h"

namespace muster::bench {
namespace {

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
  EXPECT_NE(console_.notes.end(),
            std::find_if(console_.notes.begin(), console_.notes.end(),
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

TEST_F(LoopTest, AnUnwritableResultFileIsFoundBeforeTheRun) {
  own_.json = folder_ + "/no/r.json";
  EXPECT_EQ(ErrorOfRun(), "flag --json: cannot write " + folder_ + "/no/r.json: No such file or directory");
  EXPECT_TRUE(console_.lines.empty());
  EXPECT_EQ(fake_.prepared, 0);
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

TEST_F(LoopTest, TwoOutputsInOneFileAreRefused) {
  own_.json = folder_ + "/r.json";
  params_.trace_file = folder_ + "/../" + std::filesystem::path(folder_).filename().string() + "/r.json";
  EXPECT_EQ(ErrorOfRun(), "flags --json and --trace_file name the same file " + params_.trace_file +
                              ": one would overwrite the other");
  EXPECT_EQ(fake_.prepared, 0);
}

}  // namespace
}  // namespace muster::bench
