#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "data/format/histogram.h"

namespace muster::data {

// What event files hold: the files in which TensorBoard finds curves, histograms, pictures and graphs.

// A picture, encoded (PNG).
struct SummaryImage {
  int height = 0, width = 0, channels = 0;
  std::string encoded;
};

// A number, a histogram, a picture, or a kind that Muster does not know: its bytes as they are.
struct SummaryValue {
  std::string tag;
  std::variant<float, HistogramValue, SummaryImage, std::string> value;
};

struct Event {
  enum class Kind { kNothing, kFileVersion, kGraph, kMetaGraph, kSummary, kRunMetadata, kSessionLog, kLogMessage };
  Kind kind = Kind::kNothing;
  double wall_time = 0;  // seconds since 1970
  int64_t step = 0;
  std::vector<SummaryValue> values;  // kSummary
  std::string tag;                   // kRunMetadata
  std::string bytes;  // kFileVersion, kLogMessage: text; kGraph, kMetaGraph, kRunMetadata: a message of TensorFlow
  int status = 0;     // kSessionLog: 1 start, 2 stop, 3 checkpoint
  std::string path;   // kSessionLog: of the checkpoint
};

inline constexpr char kEventFileVersion[] = "brain.Event:2";

// The message of a record. ParseEvent throws DataLoss beginning with "where".
std::string EventBytes(const Event& event);
Event ParseEvent(std::string_view bytes, const std::string& where);

}  // namespace muster::data
