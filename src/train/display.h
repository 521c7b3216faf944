#pragma once

#include <memory>
#include <string>

#include "train/clock.h"
#include "train/console.h"
#include "train/hook.h"

namespace muster::train {

// The display of a training run. On a terminal: one line with a bar, loss, accuracy, images/s and time left, redrawn at
// most ten times a second, and above it one line per evaluation. Elsewhere: a line every "display_every" steps (0:
// none) and one per evaluation. Nothing is owned.
std::unique_ptr<Hook> MakeDisplay(Console& console, const Clock& clock, int64_t display_every);

// The pieces, for tests. A progress line is never longer than "columns": what does not fit is left out, the least
// important part first.
std::string ProgressLine(const Progress& progress, int columns, bool colour);
std::string StepLine(const Progress& progress);
std::string EvaluationLine(const Evaluation& evaluation, int64_t num_epochs);

// "42 s", "3 min 05 s", "2 h 07 min".
std::string DurationText(double seconds);

}  // namespace muster::train
