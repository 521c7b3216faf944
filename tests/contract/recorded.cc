#include "tests/contract/recorded.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/file.h"
#include "data/format/record_reader.h"
#include "data/format/record_writer.h"
#include "tests/contract/run_program.h"
#include "tests/testing/golden.h"

namespace muster::testing {

std::string GoldenFile(const std::string& name) { return GoldenDir().string() + "/cnn_benchmarks/" + name; }

std::string Masked(const std::string& line) {
  static const std::regex version("^(TensorFlow|Muster):( +)\\S+$");
  static const std::regex devices("^(Devices:     )\\['.*'\\]$");
  static const std::regex step(
      "^(\\d+\timages/sec: )\\d+\\.\\d \\+/- \\d+\\.\\d \\(jitter = \\d+\\.\\d\\)\t(nan|-?inf|-?\\d+\\.\\d{3})"
      "(\t\\d+\\.\\d{3}\t\\d+\\.\\d{3})?$");
  static const std::regex total("^total images/sec: \\d+\\.\\d\\d$");
  static const std::regex evaluated("^(\\d+\t)\\d+\\.\\d examples/sec$");
  static const std::regex accuracy(
      "^(Accuracy @ 1 = )[01]\\.\\d{4}( Accuracy @ 5 = )[01]\\.\\d{4}( \\[\\d+ examples\\])$");
  std::smatch match;
  if (std::regex_match(line, match, version)) return "VERSION LINE";
  if (std::regex_match(line, match, devices)) return match[1].str() + "DEVICES";
  if (std::regex_match(line, match, step)) {
    return match[1].str() + "S +/- U (jitter = J)\tLOSS" + (match[3].matched ? "\tTOP1\tTOP5" : "");
  }
  if (std::regex_match(line, match, evaluated)) return match[1].str() + "S examples/sec";
  if (std::regex_match(line, match, accuracy))
    return match[1].str() + "TOP1" + match[2].str() + "TOP5" + match[3].str();
  if (std::regex_match(line, match, total)) return "total images/sec: TOTAL";
  return line;
}

std::vector<std::string> MaskedLines(const std::string& text) {
  std::vector<std::string> lines = Lines(text);
  for (std::string& line : lines) line = Masked(line);
  return lines;
}

std::string RecordedOutput(const nlohmann::json& entry) {
  return entry.contains("stdout") ? ReadFile(GoldenFile(entry.at("stdout"))) : "";
}

void WriteRecords(const std::string& folder, const std::string& shard, bool with_png) {
  constexpr int64_t kPng = 7;
  std::filesystem::create_directory(folder);
  data::RecordReader reader(GoldenDir() / "tfrecord/train-00000-of-00001");
  data::RecordWriter writer(folder + "/" + shard);
  for (std::string record; reader.Next(&record);)
    if (with_png || reader.index() != kPng) writer.Append(record);
  writer.Close();
}

std::vector<std::string> Losses(const std::string& out) {
  std::vector<std::string> losses;
  for (const std::string& line : Lines(out))
    if (const size_t at = line.find(")\t"); at != std::string::npos && line.find("jitter") != std::string::npos)
      losses.push_back(line.substr(at));
  return losses;
}

std::vector<std::string> AccuracyLines(const std::string& out) {
  std::vector<std::string> found;
  for (const std::string& line : Lines(out))
    if (line.starts_with("Accuracy @ 1")) found.push_back(line);
  return found;
}

}  // namespace muster::testing
