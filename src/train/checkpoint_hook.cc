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
  if (options_.every_seconds > 0 && !CheckpointExists(PathOf(step))) Save(step);
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

std::string Checkpointer::PathOf(int64_t step) const {
  return fmt::format("{}-{}", (std::filesystem::path(options_.folder) / kCheckpointName).string(), step);
}

void Checkpointer::Save(int64_t step) {
  newest_ = PathOf(step);
  saver_.SaveInBackground(session_, (std::filesystem::path(options_.folder) / kCheckpointName).string(), step);
  saved_step_ = step;
  saved_at_ = clock_.Seconds();
}

namespace {

// How a run goes on from "intact" in place of "broken" ("": the list of checkpoints is). Without a flag it takes what
// is newer first.
std::string WayOn(const std::string& folder, const std::string& broken, const IntactCheckpoint& intact,
                  const std::string& flag) {
  if (!flag.empty()) return fmt::format("--{}={}", flag, intact.path);
  if (broken.empty()) return HowToList(folder, intact.path) + " to go on from it";
  return fmt::format("remove {}.* to go on from it", fmt::join(intact.damaged, ".* and "));
}

// What else could be taken, if anything. Nobody is told to remove, or to pass over, what may be as good as ever.
std::string Advice(const std::string& folder, const std::string& broken, bool is_damage, const std::string& flag) try {
  const IntactCheckpoint intact = NewestIntactCheckpoint(folder, broken);
  const bool is_sure = is_damage && intact.unread.empty();
  if (intact.path.empty())
    return is_sure ? fmt::format("; there is no {}intact checkpoint in the folder", broken.empty() ? "" : "other ")
                   : "";
  if (!is_sure) return "; the newest checkpoint that can be read is " + intact.path;
  return fmt::format("; the newest intact checkpoint is {}: {}", intact.path, WayOn(folder, broken, intact, flag));
} catch (const Error&) {
  return "";
}

// "": it is not so. "which": the checkpoints, after a comma.
std::string UnlistedText(const std::string& folder, const char* which, const std::string& flag) {
  if (!HasUnlistedCheckpoints(folder)) return "";
  const std::filesystem::path list = std::filesystem::path(folder) / data::kCheckpointStateFile;
  return fmt::format("{}: no such file, but the folder has checkpoints{}{}", list.string(), which,
                     Advice(folder, "", true, flag));
}

}  // namespace

std::string RestoreNewest(Saver& saver, Session& session, const std::string& folder, const std::string& path,
                          const std::string& flag) {
  std::string chosen = path;
  try {
    if (chosen.empty()) chosen = Saver::LatestCheckpoint(folder);
    if (!chosen.empty()) saver.Restore(session, chosen);
  } catch (const Error& error) {
    if (error.code() == Code::kCancelled || folder.empty()) throw;
    const bool is_fault = error.code() == Code::kDataLoss || chosen.empty();
    const std::optional<Error> fault = is_fault ? error : WrongWithCheckpoint(chosen);
    if (!fault) throw;  // it is whole: of another model, or it can be read by now
    throw Error(error.code(), error.what() + Advice(folder, chosen, IsDamage(*fault), flag));
  }
  return chosen;
}

std::string UnlistedNote(const std::string& folder, const std::string& flag) { return UnlistedText(folder, "", flag); }

void CheckNothingIsUnlisted(const std::string& folder, const std::string& flag) {
  if (const std::string text = UnlistedText(folder, ", which a run from the start would replace", flag); !text.empty())
    throw DataLoss(text);
}

}  // namespace muster::train
