#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/format/event_file.h"
#include "data/format/png.h"
#include "tests/data/error_of.h"
#include "tests/data/format/files.h"
#include "tests/testing/idx_files.h"

namespace muster::data {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr char kGolden[] = "events/events.out.tfevents.1700000000.host.golden";

double NumberOf(const json& value) {
  if (!value.is_string()) return value.is_null() ? NAN : value.get<double>();
  return value == "Infinity" ? INFINITY : -INFINITY;
}

void ExpectHistogram(const json& expected, const HistogramValue& value, const std::string& tag) {
  EXPECT_EQ(value.min, expected["min"].get<double>()) << tag;
  EXPECT_EQ(value.max, expected["max"].get<double>()) << tag;
  EXPECT_EQ(value.num, expected["num"].get<double>()) << tag;
  EXPECT_EQ(value.sum, expected["sum"].get<double>()) << tag;
  EXPECT_EQ(value.sum_squares, NumberOf(expected["sum_squares"])) << tag;
  EXPECT_EQ(value.limits, expected["bucket_limit"].get<std::vector<double>>()) << tag;
  EXPECT_EQ(value.counts, expected["bucket"].get<std::vector<double>>()) << tag;
}

void ExpectValue(const json& expected, const SummaryValue& value) {
  EXPECT_EQ(value.tag, expected["tag"].get<std::string>());
  const std::string kind = expected["kind"];
  if (kind == "simple_value") {
    ASSERT_TRUE(std::holds_alternative<float>(value.value)) << value.tag;
    EXPECT_EQ(static_cast<double>(std::get<float>(value.value)), NumberOf(expected["value"])) << value.tag;
  } else if (kind == "histo") {
    ASSERT_TRUE(std::holds_alternative<HistogramValue>(value.value)) << value.tag;
    ExpectHistogram(expected, std::get<HistogramValue>(value.value), value.tag);
  } else if (kind == "image") {
    ASSERT_TRUE(std::holds_alternative<SummaryImage>(value.value)) << value.tag;
    EXPECT_EQ(std::get<SummaryImage>(value.value).height, expected["height"].get<int>());
    EXPECT_EQ(std::get<SummaryImage>(value.value).width, expected["width"].get<int>());
  }
}

const char* KindName(Event::Kind kind) {
  switch (kind) {
    case Event::Kind::kNothing: return "nothing";
    case Event::Kind::kFileVersion: return "file_version";
    case Event::Kind::kGraph: return "graph_def";
    case Event::Kind::kMetaGraph: return "meta_graph_def";
    case Event::Kind::kSummary: return "summary";
    case Event::Kind::kRunMetadata: return "tagged_run_metadata";
    case Event::Kind::kSessionLog: return "session_log";
    case Event::Kind::kLogMessage: return "log_message";
  }
  return "";
}

TEST(GoldenEvents, EveryRecordOfTensorFlowsFileIsRead) {
  const json contents = testing::GoldenJson("events/contents.json");
  EventFileReader reader(GoldenPath(kGolden));
  for (const json& expected : contents["records"]) {
    const std::optional<Event> event = reader.Next();
    ASSERT_TRUE(event);
    EXPECT_EQ(reader.records().offset(), expected["offset"].get<int64_t>());
    EXPECT_EQ(event->step, expected["step"].get<int64_t>());
    EXPECT_EQ(KindName(event->kind), expected["what"].get<std::string>());
    if (event->kind == Event::Kind::kFileVersion) {
      EXPECT_EQ(event->bytes, kEventFileVersion);
    }
    if (event->kind == Event::Kind::kRunMetadata) {
      EXPECT_EQ(event->tag, expected["tag"].get<std::string>());
    }
    if (event->kind == Event::Kind::kSessionLog) {
      EXPECT_EQ(event->status, expected["status"].get<int>());
    }
    if (event->kind != Event::Kind::kSummary) continue;
    const json& values = expected["values"];
    ASSERT_EQ(event->values.size(), values.size());
    for (size_t i = 0; i < values.size(); ++i) ExpectValue(values[i], event->values[i]);
  }
  EXPECT_FALSE(reader.Next());
}

TEST(GoldenEvents, TheRunMetadataIsTheBareMessageThatTensorFlowWroteBeside) {
  EventFileReader reader(GoldenPath(kGolden));
  std::string found;
  while (const std::optional<Event> event = reader.Next())
    if (event->kind == Event::Kind::kRunMetadata) found = event->bytes;
  EXPECT_TRUE(found == ReadFile(GoldenPath("events/run_metadata_step2.pb")));
}

// What Muster does not keep is in the others: summary metadata, and in the first record the writer's name.
TEST(GoldenEvents, GraphsRunMetadataAndSessionLogsAreWrittenAsTheSameBytes) {
  RecordReader reader(GoldenPath(kGolden));
  for (std::string record; reader.Next(&record);) {
    const Event event = ParseEvent(record, "golden");
    if (event.kind != Event::Kind::kSummary && event.kind != Event::Kind::kFileVersion) {
      EXPECT_TRUE(EventBytes(event) == record) << KindName(event.kind);
    }
  }
}

TEST(GoldenHistogram, HasTensorFlowsBuckets) {
  std::string text = ReadFile(GoldenPath("events/histogram_example.json"));
  text.replace(text.find("Infinity"), 8, "\"Infinity\"");  // a bare Infinity is Python, not JSON
  const json expected = json::parse(text);
  Histogram histogram;
  for (const json& value : expected["values"]) histogram.Add(value.get<double>());
  ExpectHistogram(expected, histogram.Value(), "example");
}

TEST(Histogram, NaNIsCountedApartAndInfinityInTheLastBucket) {
  Histogram histogram;
  for (const double value : std::vector<double>{NAN, INFINITY, 1.0}) histogram.Add(value);
  EXPECT_EQ(histogram.num_nan(), 1);
  EXPECT_EQ(histogram.Value().num, 2);
  EXPECT_EQ(histogram.Value().counts.back(), 1);
}

TEST(EventFile, WhatIsWrittenComesBack) {
  const testing::TempFolder folder;
  EventFileWriter writer(folder.path().string());
  Histogram histogram;
  histogram.Add(1.5);
  writer.AddGraph("a graph");
  writer.AddScalar("loss", 0.5, 1);
  writer.AddHistogram("weights", histogram.Value(), 2);
  writer.AddImage("picture", {2, 1, 3, EncodePng(std::vector<uint8_t>{1, 2, 3, 4, 5, 6}, 2, 1, 3)}, 3);
  writer.AddRunMetadata("step4", "metadata", 4);
  writer.Add({.kind = Event::Kind::kSessionLog, .step = 5, .status = 3, .path = "model.ckpt-5"});
  writer.Close();

  EXPECT_THAT(std::filesystem::path(writer.path()).filename().string(), ::testing::StartsWith("events.out.tfevents."));
  EventFileReader reader(writer.path());
  std::vector<Event> events;
  while (std::optional<Event> event = reader.Next()) events.push_back(*event);
  ASSERT_EQ(events.size(), 7u);
  EXPECT_EQ(events[0].bytes, kEventFileVersion);
  EXPECT_EQ(events[1].bytes, "a graph");
  EXPECT_EQ(std::get<float>(events[2].values.at(0).value), 0.5f);
  EXPECT_EQ(std::get<HistogramValue>(events[3].values.at(0).value).num, 1);
  EXPECT_EQ(std::get<SummaryImage>(events[4].values.at(0).value).height, 2);
  EXPECT_EQ(events[5].tag, "step4");
  EXPECT_EQ(events[6].path, "model.ckpt-5");
  for (size_t i = 2; i < 7; ++i) EXPECT_EQ(events[i].step, static_cast<int64_t>(i) - 1);
  EXPECT_GT(events[6].wall_time, 1.6e9);
}

TEST(EventFile, TwoInOneSecondAreTwoFiles) {
  const testing::TempFolder folder;
  EventFileWriter first(folder.path().string()), second(folder.path().string());
  EXPECT_NE(first.path(), second.path());
}

TEST(EventFile, HalfAnEventIsNamedWithItsPlace) {
  const testing::TempFolder folder;
  const std::string bytes = ReadFile(GoldenPath(kGolden));
  EventFileReader reader(folder.Write("events", bytes.substr(0, 40000)).string());
  EXPECT_THAT(ErrorOf([&] {
                while (reader.Next()) {
                }
              }),
              HasSubstr("events: record 6 at byte 37514: the file ends"));
  EXPECT_TRUE(reader.records().is_lost());
}

TEST(EventFile, RecordsThatAreNoEventsAreRefused) {
  const testing::TempFolder folder;
  const std::string path = (folder.path() / "records").string();
  RecordWriter writer(path);
  writer.Append("\xff\xff\xff");
  writer.Close();
  EXPECT_THAT(ErrorOf([&] { EventFileReader(path).Next(); }), HasSubstr("records: record 0 at byte 0: is no Event"));
}

// The chunks by hand: signature, header, and a CRC known from the PNG specification's empty end chunk.
TEST(Png, HasTheFormOfThePngSpecification) {
  const std::string png = EncodePng(std::vector<uint8_t>(2 * 3 * 3, 7), 2, 3, 3);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(png.substr(8, 8), std::string("\0\0\0\x0dIHDR", 8));
  EXPECT_EQ(png.substr(16, 13), std::string("\0\0\0\3\0\0\0\2\x08\2\0\0\0", 13));
  EXPECT_EQ(png.substr(png.size() - 12), std::string("\0\0\0\0IEND\xae\x42\x60\x82", 12));
}

}  // namespace
}  // namespace muster::data
