#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace muster::testing {

// A file of golden/cnn_benchmarks.
std::string GoldenFile(const std::string& name);

// The recorded standard output of an entry of commands.json; "" if it has none.
std::string RecordedOutput(const nlohmann::json& entry);

// Replaces what may differ from a recorded run (measured figures, version line, devices), and only where it has the
// recorded form, digits after the point included.
std::string Masked(const std::string& line);
std::vector<std::string> MaskedLines(const std::string& text);

// The golden records as "folder"/"shard", with or without the one that is a PNG, at which tf_cnn_benchmarks stops.
void WriteRecords(const std::string& folder, const std::string& shard, bool with_png);

// Loss and accuracies of each timed step, as printed.
std::vector<std::string> Losses(const std::string& out);

// The lines that say how an evaluation came out.
std::vector<std::string> AccuracyLines(const std::string& out);

}  // namespace muster::testing
