#include "train/display.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <vector>

#include <fmt/format.h>

#include "train/nan_sign.h"

namespace muster::train {
namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr int kWidestBar = 30;
constexpr int kNarrowestBar = 8;
constexpr std::string_view kEraseLine = "\r\x1b[K";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kPlain = "\x1b[0m";

std::string Bar(double fraction, int width, bool colour) {
  const int filled = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * width);
  std::string done(static_cast<size_t>(filled), '=');
  if (filled < width) done += '>';
  const std::string left(static_cast<size_t>(width) - std::min(done.size(), static_cast<size_t>(width)), ' ');
  return colour ? fmt::format("[{}{}{}{}]", kGreen, done, kPlain, left) : fmt::format("[{}{}]", done, left);
}

// The number of the epoch in work, from 1.
int64_t EpochInWork(const Progress& progress) {
  return std::min(static_cast<int64_t>(progress.epoch) + 1, progress.num_epochs);
}

// One line that is drawn over itself.
class TerminalDisplay : public Hook {
 public:
  TerminalDisplay(Console& console, const Clock& clock) : console_(console), clock_(clock) {}
  // After an error nobody calls End; the message must not stand behind the bar.
  ~TerminalDisplay() override {
    try {
      Clear();
    } catch (const std::exception&) {  // the terminal is gone
    }
  }

  void Begin(const Progress& progress) override { Draw(ProgressLine(progress, Width(), console_.has_colour())); }
  void AfterStep(const Progress& progress) override {
    if (IsTime()) Draw(ProgressLine(progress, Width(), console_.has_colour()));
  }
  void DuringEvaluation(const Progress& progress, int64_t done, int64_t total) override {
    if (!IsTime()) return;
    Draw(fmt::format("epoch {}/{}  evaluating {:.0f} %", EpochText(progress), progress.num_epochs,
                     100.0 * static_cast<double>(done) / static_cast<double>(total))
             .substr(0, static_cast<size_t>(Width())));
  }
  void AfterEvaluation(const Progress& progress, const Evaluation& evaluation) override {
    console_.Write(fmt::format("{}{}\n", kEraseLine, EvaluationLine(evaluation, progress.num_epochs)));
    is_drawn_ = false;
    last_drawn_ = -1;
  }
  void End(const TrainResult&) override {
    console_.Write(kEraseLine);
    is_drawn_ = false;
  }

 private:
  // The last column stays free: some terminals wrap when it is written.
  int Width() const { return std::max(console_.columns() - 1, 1); }
  static std::string EpochText(const Progress& progress) { return fmt::format("{:.4g}", progress.epoch); }
  bool IsTime() const { return last_drawn_ < 0 || clock_.Seconds() - last_drawn_ >= kRedrawSeconds; }
  void Clear() {
    if (is_drawn_) console_.Write(kEraseLine);
    is_drawn_ = false;
  }
  void Draw(const std::string& line) {
    is_drawn_ = true;
    console_.Write(fmt::format("{}{}", kEraseLine, line));
    last_drawn_ = clock_.Seconds();
  }

  Console& console_;
  const Clock& clock_;
  bool is_drawn_ = false;   // the line is on the screen
  double last_drawn_ = -1;  // when
};

class PlainDisplay : public Hook {
 public:
  PlainDisplay(Console& console, int64_t display_every) : console_(console), display_every_(display_every) {}

  void AfterStep(const Progress& progress) override {
    if (display_every_ > 0 && progress.step % display_every_ == 0) console_.Write(StepLine(progress) + "\n");
  }
  void AfterEvaluation(const Progress& progress, const Evaluation& evaluation) override {
    console_.Write(EvaluationLine(evaluation, progress.num_epochs) + "\n");
  }

 private:
  Console& console_;
  int64_t display_every_;
};

}  // namespace

std::unique_ptr<Hook> MakeDisplay(Console& console, const Clock& clock, int64_t display_every) {
  if (console.is_terminal()) return std::make_unique<TerminalDisplay>(console, clock);
  return std::make_unique<PlainDisplay>(console, display_every);
}

std::string ProgressLine(const Progress& progress, int columns, bool colour) {
  const bool is_done = progress.epoch >= static_cast<double>(progress.num_epochs);
  const double within = is_done ? 1 : progress.epoch - std::floor(progress.epoch);
  const std::string head = fmt::format("epoch {}/{} ", EpochInWork(progress), progress.num_epochs);
  // In the order in which they are shown; the number says who must go first when space is short.
  struct Part {
    std::string text;
    int rank;
  };
  std::vector<Part> parts{{fmt::format("  loss {:.3f}", WithoutNanSign(progress.loss)), 0},
                          {fmt::format("  accuracy {:.3f}", progress.accuracy), 1},
                          {fmt::format("  {:.0f} images/s", progress.images_per_sec), 2},
                          {fmt::format("  {} left", DurationText(progress.seconds_left)), 3}};
  if (progress.step == 0) parts = {{"  first step", 0}};
  const auto room = [&] {
    int used = static_cast<int>(head.size()) + 2;  // the bar's brackets
    for (const Part& part : parts) used += static_cast<int>(part.text.size());
    return columns - used;
  };
  while (room() < kNarrowestBar && !parts.empty()) parts.erase(std::ranges::max_element(parts, {}, &Part::rank));
  if (room() < kNarrowestBar) return head.substr(0, static_cast<size_t>(std::max(columns, 0)));
  std::string line = head + Bar(within, std::min(room(), kWidestBar), colour);
  for (const Part& part : parts) line += part.text;
  return line;
}

std::string StepLine(const Progress& progress) {
  return fmt::format("step {} of {}  epoch {:.2f}  loss {:.4f}  accuracy {:.4f}  {:.0f} images/s  {} left",
                     progress.step, progress.total_steps, progress.epoch, WithoutNanSign(progress.loss),
                     progress.accuracy, progress.images_per_sec, DurationText(progress.seconds_left));
}

std::string EvaluationLine(const Evaluation& evaluation, int64_t num_epochs) {
  return fmt::format(
      "epoch {:.4g}/{}  loss {:.4f}  accuracy {:.4f}  test loss {:.4f}  test accuracy {:.4f}  {:.0f} images/s  at "
      "{:.1f} s",
      std::floor(evaluation.epoch * 100) / 100, num_epochs, WithoutNanSign(evaluation.train_loss),
      evaluation.train_accuracy, WithoutNanSign(evaluation.test_loss), evaluation.test_accuracy,
      evaluation.images_per_sec, evaluation.at_seconds);
}

std::string DurationText(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(std::max(seconds, 0.0)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace muster::train
