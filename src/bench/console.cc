#include "bench/console.h"

#include "base/clock.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "base/standard_output.h"

namespace muster::bench {

StandardConsole::StandardConsole(std::string prefix)
    : prefix_(std::move(prefix)), terminal_(::isatty(STDERR_FILENO) == 1) {}

StandardConsole::~StandardConsole() { ClearProgress(); }

void StandardConsole::Print(const std::string& line) {
  ClearProgress();
  WriteStandardOutput(line + "\n");
}

void StandardConsole::Note(const std::string& line) {
  ClearProgress();
  std::fputs((prefix_ + line + "\n").c_str(), stderr);
}

void StandardConsole::Progress(const std::string& text) {
  if (!terminal_) return;
  if (text.empty()) {
    ClearProgress();
    return;
  }
  const double now = SteadySeconds();
  if (progress_shown_ && now - last_progress_ < 0.1) return;
  std::fputs(("\r\x1b[K" + text).c_str(), stderr);
  std::fflush(stderr);
  progress_shown_ = true;
  last_progress_ = now;
}

void StandardConsole::ClearProgress() {
  if (!progress_shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  progress_shown_ = false;
}

}  // namespace muster::bench
