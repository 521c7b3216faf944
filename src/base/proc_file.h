#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

// The whole of a small text file (at most 1 MiB is read), such as those in /proc and /sys; nullopt if it cannot be
// read.
std::optional<std::string> ReadSmallFile(const std::string& path);

// The value behind "key" at the start of a line ("VmRSS:" in /proc/self/status), without the blanks around it.
std::optional<std::string_view> LineValue(std::string_view text, std::string_view key);

// The same for a value of the form "1234 kB", in bytes.
std::optional<int64_t> KilobyteValue(std::string_view text, std::string_view key);

// A decimal number that is all of "text" but for blanks around it.
std::optional<int64_t> WholeNumber(std::string_view text);

// "text" without the blanks and line ends around it.
std::string_view Trimmed(std::string_view text);

}  // namespace muster
