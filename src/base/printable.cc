#include "base/printable.h"

namespace muster {

std::string Printable(std::string_view text) {
  std::string printable;
  printable.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      printable += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      constexpr char kDigits[] = "0123456789abcdef";
      printable += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      printable += c;
    }
  }
  return printable;
}

}  // namespace muster
