#include "train/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace muster::train {
namespace {

constexpr int kUsualColumns = 80;

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

class StandardConsole : public Console {
 public:
  StandardConsole()
      : is_terminal_(isatty(STDOUT_FILENO) == 1 && Environment("TERM") != "dumb"),
        has_colour_(is_terminal_ && Environment("NO_COLOR").empty()) {}

  void Write(std::string_view text) override {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
  bool is_terminal() const override { return is_terminal_; }
  bool has_colour() const override { return has_colour_; }
  int columns() const override {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualColumns;
    return size.ws_col;
  }

 private:
  bool is_terminal_;
  bool has_colour_;
};

}  // namespace

std::unique_ptr<Console> StandardOutput() { return std::make_unique<StandardConsole>(); }

}  // namespace muster::train
