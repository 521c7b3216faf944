#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace muster::train {

// Where a command talks to its user. A terminal can redraw its last line; anything else gets whole lines only.
class Console {
 public:
  virtual ~Console() = default;
  virtual void Write(std::string_view text) = 0;
  virtual bool is_terminal() const = 0;
  virtual bool has_colour() const = 0;
  // Characters in a line, now: windows change their size.
  virtual int columns() const = 0;
};

// Standard output. It counts as a terminal if it is one and TERM is not "dumb"; there is no colour if NO_COLOR is set
// and not empty (https://no-color.org).
std::unique_ptr<Console> StandardOutput();

}  // namespace muster::train
