#pragma once

#include <string>
#include <string_view>

namespace muster {

// The text with control characters spelled out (a line break as \n, others as \x1b). Names out of files may hold
// anything: a line break would make two lines of one, an escape sequence command the terminal.
std::string Printable(std::string_view text);

}  // namespace muster
