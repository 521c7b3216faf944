#include "muster/timeline.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster {
namespace {

using ::testing::HasSubstr;

Timeline TwoStreams() {
  Timeline timeline;
  timeline.spans.push_back({.name = "a/Conv2D",
                            .op = "Conv2D",
                            .device = "/device:GPU:0",
                            .stream = "compute",
                            .start = 0.001,
                            .seconds = 0.002,
                            .planned_start = 0,
                            .planned_seconds = 0.003,
                            .float_ops = 10,
                            .bytes = 20,
                            .output = "float32[2]"});
  timeline.spans.push_back({.name = "a/send",
                            .op = "_Send",
                            .device = "/device:GPU:0",
                            .stream = "exchange",
                            .start = 0.003,
                            .seconds = 0.0005});
  timeline.spans.push_back(
      {.name = "b/Add", .op = "Add", .device = "/device:GPU:1", .stream = "compute", .start = 0.0035, .seconds = 0});
  return timeline;
}

// Complete events of one process and row.
std::vector<nlohmann::json> EventsOf(const nlohmann::json& trace, const std::string& process,
                                     const std::string& thread) {
  int pid = -1, tid = -1;
  for (const auto& e : trace["traceEvents"])
    if (e["ph"] == "M" && e["name"] == "process_name" && e["args"]["name"] == process) pid = e["pid"];
  for (const auto& e : trace["traceEvents"])
    if (e["ph"] == "M" && e["name"] == "thread_name" && e["pid"] == pid && e["args"]["name"] == thread) tid = e["tid"];
  std::vector<nlohmann::json> events;
  for (const auto& e : trace["traceEvents"])
    if (e["ph"] == "X" && e["pid"] == pid && e["tid"] == tid) events.push_back(e);
  return events;
}

TEST(ChromeTrace, HasARowForEachStreamAndAPlannedOneBesideIt) {
  const auto trace = nlohmann::json::parse(ChromeTrace(TwoStreams()));
  const auto measured = EventsOf(trace, "/device:GPU:0 Compute", "compute");
  ASSERT_EQ(measured.size(), 1u);
  EXPECT_EQ(measured[0]["ts"], 1000);
  EXPECT_EQ(measured[0]["dur"], 2000);
  EXPECT_EQ(measured[0]["args"]["name"], "a/Conv2D");
  const auto planned = EventsOf(trace, "/device:GPU:0 planned", "compute (planned)");
  ASSERT_EQ(planned.size(), 1u);
  EXPECT_EQ(planned[0]["ts"], 0);
  EXPECT_EQ(planned[0]["dur"], 3000);
  EXPECT_EQ(EventsOf(trace, "/device:GPU:0 Compute", "exchange").size(), 1u);
  EXPECT_EQ(EventsOf(trace, "/device:GPU:1 Compute", "compute").size(), 1u);
}

TEST(ChromeTrace, NeighboursInARowDoNotOverlapHoweverShortTheyAre) {
  Timeline timeline;
  double at = 0.0001234567;
  for (int i = 0; i < 200; ++i) {
    const double seconds = 1e-8 * (1 + i % 7) + 1.0 / 3 * 1e-9;
    timeline.spans.push_back({.name = "a",
                              .op = "Add",
                              .device = "/device:GPU:0",
                              .stream = "compute",
                              .start = at,
                              .seconds = seconds,
                              .planned_start = at,
                              .planned_seconds = seconds});
    at += seconds;
  }
  const auto trace = nlohmann::json::parse(ChromeTrace(timeline));
  for (const auto& [process, row] :
       {std::pair("/device:GPU:0 Compute", "compute"), std::pair("/device:GPU:0 planned", "compute (planned)")}) {
    const auto events = EventsOf(trace, process, row);
    ASSERT_EQ(events.size(), 200u);
    EXPECT_EQ(events[0]["ts"], 123.457);
    const auto nanos = [](const nlohmann::json& micros) { return std::llround(micros.get<double>() * 1e3); };
    for (size_t i = 1; i < events.size(); ++i)
      EXPECT_EQ(nanos(events[i - 1]["ts"]) + nanos(events[i - 1]["dur"]), nanos(events[i]["ts"])) << i;
  }
}

TEST(StepStats, NamesStreamsAsTheRuntimeDoes) {
  const std::string text = StepStatsText(TwoStreams());
  EXPECT_THAT(text, HasSubstr("dev_stats {\n  device: \"/device:GPU:0\"\n  node_stats {\n    node_name: \"a/Conv2D\"\n "
                              "   all_start_micros: 1000\n"));
  EXPECT_THAT(text, HasSubstr("device: \"/device:GPU:0/stream:exchange\""));
}

}  // namespace
}  // namespace muster
