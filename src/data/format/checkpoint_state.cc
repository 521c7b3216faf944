#include "data/format/checkpoint_state.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "data/format/proto/checkpoint.pb.h"
#include "muster/error.h"

namespace muster::data {
namespace {

// Keeps the first complaint.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& message) override {
    if (text_.empty()) text_ = fmt::format("line {}, column {}: {}", line + 1, column + 1, message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

CheckpointState ParseCheckpointState(const std::string& text, const std::string& name) {
  checkpoint::CheckpointState message;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(text, &message)) throw DataLoss(fmt::format("{}: {}", name, error.text()));
  if (message.model_checkpoint_path().empty())
    throw DataLoss(fmt::format("{}: names no checkpoint (model_checkpoint_path: \"…\")", name));
  CheckpointState state{message.model_checkpoint_path(),
                        {message.all_model_checkpoint_paths().begin(), message.all_model_checkpoint_paths().end()}};
  if (state.all.empty() || state.all.back() != state.newest) {
    std::erase(state.all, state.newest);
    state.all.push_back(state.newest);
  }
  return state;
}

std::string CheckpointStateText(const CheckpointState& state) {
  checkpoint::CheckpointState message;
  message.set_model_checkpoint_path(state.newest);
  for (const std::string& path : state.all) message.add_all_model_checkpoint_paths(path);
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  std::string text;
  printer.PrintToString(message, &text);
  return text;
}

CheckpointState ReadCheckpointState(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / kCheckpointStateFile).string();
  return ParseCheckpointState(ReadFile(path), path);
}

void WriteCheckpointState(const std::string& folder, const CheckpointState& state) {
  WriteFileAtomically((std::filesystem::path(folder) / kCheckpointStateFile).string(), CheckpointStateText(state));
}

std::string ResolveCheckpoint(const std::string& folder, const std::string& path) {
  return (std::filesystem::path(folder) / path).string();
}

}  // namespace muster::data
