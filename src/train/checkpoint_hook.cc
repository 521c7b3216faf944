#include "train/checkpoint_hook.h"

#include <filesystem>

#include <fmt/format.h>

#include "data/format/checkpoint_state.h"
#include "muster/error.h"
#include "train/checkpoint_folder.h"

namespace muster::train {

Checkpointer::Checkpointer(Saver& saver, Session& session, CheckpointOptions options, const Clock& clock)
    : saver_(saver), session_(session), options_(std::move(options)), clock_(clock) {}

void Checkpointer::Begin(int64_t step) {
  saved_step_ = step;
  saved_at_ = clock_.Seconds();
}

void Checkpointer::AfterStep(int64_t step) {
  const bool by_step = options_.every_steps > 0 && step % options_.every_steps == 0;
  const bool by_time = options_.every_seconds > 0 && clock_.Seconds() - saved_at_ >= options_.every_seconds;
  if (by_step || by_time) Save(step);
}

void Checkpointer::End(int64_t step) {
  if (step != saved_step_) Save(step);
  saver_.Wait();
}

void Checkpointer::Save(int64_t step) {
  const std::string prefix = (std::filesystem::path(options_.folder) / kCheckpointName).string();
  saver_.SaveInBackground(session_, prefix, step);
  newest_ = fmt::format("{}-{}", prefix, step);
  saved_step_ = step;
  saved_at_ = clock_.Seconds();
}

namespace {

// How a run goes on from "intact" in place of "broken" ("": the list of checkpoints is).
std::string WayOn(const std::string& folder, const std::string& broken, const std::string& intact, const std::string& flag) {
  if (!flag.empty()) return fmt::format("--{}={}", flag, intact);
  if (!broken.empty()) return fmt::format("remove {}.* to go on from it", broken);
  const std::filesystem::path list = std::filesystem::path(folder) / data::kCheckpointStateFile;
  return fmt::format("write 'model_checkpoint_path: \"{}\"' into {} to go on from it", std::filesystem::path(intact).filename().string(), list.string());
}

// What else could be taken, if anything.
std::string Advice(const std::string& folder, const std::string& broken, const std::string& flag) try {
  const std::optional<std::string> intact = NewestIntactCheckpoint(folder, broken);
  if (!intact) return fmt::format("; there is no {}intact checkpoint in the folder", broken.empty() ? "" : "other ");
  return fmt::format("; the newest intact checkpoint is {}: {}", *intact, WayOn(folder, broken, *intact, flag));
} catch (const Error&) {
  return "";
}

}  // namespace

std::string RestoreNewest(Saver& saver, Session& session, const std::string& folder, const std::string& path, const std::string& flag) {
  std::string chosen = path;
  try {
    if (chosen.empty()) chosen = Saver::LatestCheckpoint(folder);
    if (!chosen.empty()) saver.Restore(session, chosen);
  } catch (const Error& error) {
    if (error.code() == Code::kCancelled || folder.empty()) throw;
    // Else it is whole, but of another model.
    const bool is_broken = error.code() == Code::kDataLoss || chosen.empty() || WrongWithCheckpoint(chosen).has_value();
    if (!is_broken) throw;
    throw Error(error.code(), error.what() + Advice(folder, chosen, flag));
  }
  return chosen;
}

void CheckNothingIsUnlisted(const std::string& folder, const std::string& flag) {
  if (!HasUnlistedCheckpoints(folder)) return;
  const std::filesystem::path list = std::filesystem::path(folder) / data::kCheckpointStateFile;
  throw DataLoss(fmt::format("{}: no such file, but the folder has checkpoints, which a run from the start would replace{}", list.string(),
                             Advice(folder, "", flag)));
}

}  // namespace muster::train
