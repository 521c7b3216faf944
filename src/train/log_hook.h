#pragma once

#include <cstdint>
#include <string>

#include "base/output_file.h"
#include "train/clock.h"
#include "train/hook.h"

namespace muster::train {

// Writes what a run prints, and more, as text for programs: a file with one JSON object per line (docs/train_json.md),
// each handed to the system at once, so that it can be followed. A run replaces the file of the run before.
class LogHook : public Hook {
 public:
  // Every how many steps there is a line; evaluations and the end have one each.
  LogHook(const std::string& path, const Clock& clock, int64_t every_steps);

  void Begin(const Progress& progress) override;
  void AfterStep(const Progress& progress) override;
  void AfterEvaluation(const Progress& progress, const Evaluation& evaluation) override;
  void End(const TrainResult& result) override;

 private:
  OutputFile file_;
  const Clock& clock_;
  const int64_t every_steps_;
};

}  // namespace muster::train
