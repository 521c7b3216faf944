#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/format/event.h"
#include "data/format/record_reader.h"
#include "data/format/record_writer.h"

namespace muster::data {

// Writes an event file into a folder while a run goes on. For one thread. Every failure throws Error naming the file.
class EventFileWriter {
 public:
  // Makes "events.out.tfevents.<seconds>.<host>" in the folder, which must exist; a number follows if another file has
  // that name.
  explicit EventFileWriter(const std::string& folder);

  void AddScalar(const std::string& tag, double value, int64_t step);
  void AddHistogram(const std::string& tag, const HistogramValue& value, int64_t step);
  void AddImage(const std::string& tag, SummaryImage image, int64_t step);
  void AddGraph(const std::string& graph_def);
  // What a step took in time and memory, a RunMetadata message; TensorBoard lists it under the tag.
  void AddRunMetadata(const std::string& tag, const std::string& run_metadata, int64_t step);
  void AddSummary(std::vector<SummaryValue> values, int64_t step);
  // The event as it is, its time set to now unless it has one.
  void Add(Event event);

  // Readers see what was added so far.
  void Flush() { records_.Flush(); }
  void Close() { records_.Close(); }
  const std::string& path() const { return records_.file().path(); }

 private:
  mutable RecordWriter records_;
};

// Reads an event file.
class EventFileReader {
 public:
  explicit EventFileReader(const std::string& path) : records_(path) {}
  // The next event; nothing at the end. Throws DataLoss naming file, record and byte. A file that is being written may
  // end in half a record: records().is_lost() is true then.
  std::optional<Event> Next();
  const RecordReader& records() const { return records_; }

 private:
  RecordReader records_;
};

}  // namespace muster::data
