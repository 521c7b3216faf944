#pragma once

#include <string>

namespace muster::bench {

// Where a run writes. One thread.
class Console {
 public:
  virtual ~Console() = default;

  virtual void Print(const std::string& line) = 0;     // a line of the contract: standard output; may throw OutputError
  virtual void Note(const std::string& line) = 0;      // anything else worth saying: standard error
  virtual void Progress(const std::string& text) = 0;  // rewrites the progress line; "" removes it
};

// Standard output and error; lines are flushed at once, so that a pipe sees them. Progress appears only if standard
// error is a terminal, and at most ten times a second. Notes carry "prefix".
class StandardConsole : public Console {
 public:
  explicit StandardConsole(std::string prefix);
  ~StandardConsole() override;

  void Print(const std::string& line) override;
  void Note(const std::string& line) override;
  void Progress(const std::string& text) override;

 private:
  void ClearProgress();

  std::string prefix_;
  bool terminal_ = false;
  bool progress_shown_ = false;
  double last_progress_ = 0;  // seconds, steady clock
};

}  // namespace muster::bench
