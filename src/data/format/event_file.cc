#include "data/format/event_file.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>

#include <fmt/format.h>

#include "muster/error.h"

namespace muster::data {
namespace {

double Now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

// The first name of its kind that is free.
std::string FreePath(const std::string& folder) {
  const std::string name = fmt::format("events.out.tfevents.{:010}.{}", static_cast<int64_t>(Now()), HostName());
  std::filesystem::path path = std::filesystem::path(folder) / name;
  std::error_code error;
  for (int i = 1; std::filesystem::exists(path, error); ++i)
    path = std::filesystem::path(folder) / fmt::format("{}.{}", name, i);
  return path.string();
}

}  // namespace

EventFileWriter::EventFileWriter(const std::string& folder)
    : records_(FreePath(folder), Packing::kNone, OutputFile::Mode::kNew) {
  Add({.kind = Event::Kind::kFileVersion, .bytes = kEventFileVersion});
  Flush();
}

void EventFileWriter::Add(Event event) {
  if (event.wall_time == 0) event.wall_time = Now();
  records_.Append(EventBytes(event));
}

void EventFileWriter::AddSummary(std::vector<SummaryValue> values, int64_t step) {
  Add({.kind = Event::Kind::kSummary, .step = step, .values = std::move(values)});
}

void EventFileWriter::AddScalar(const std::string& tag, double value, int64_t step) {
  AddSummary({{tag, static_cast<float>(value)}}, step);
}
void EventFileWriter::AddHistogram(const std::string& tag, const HistogramValue& value, int64_t step) {
  AddSummary({{tag, value}}, step);
}
void EventFileWriter::AddImage(const std::string& tag, SummaryImage image, int64_t step) {
  AddSummary({{tag, std::move(image)}}, step);
}
void EventFileWriter::AddGraph(const std::string& graph_def) { Add({.kind = Event::Kind::kGraph, .bytes = graph_def}); }

void EventFileWriter::AddRunMetadata(const std::string& tag, const std::string& run_metadata, int64_t step) {
  Add({.kind = Event::Kind::kRunMetadata, .step = step, .tag = tag, .bytes = run_metadata});
}

std::optional<Event> EventFileReader::Next() {
  std::string record;
  if (!records_.Next(&record)) return std::nullopt;
  return ParseEvent(
      record, fmt::format("{}: record {} at byte {}", records_.path().string(), records_.index(), records_.offset()));
}

}  // namespace muster::data
