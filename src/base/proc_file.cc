#include "base/proc_file.h"

#include <charconv>
#include <cstdio>
#include <memory>

namespace muster {

std::optional<std::string> ReadSmallFile(const std::string& path) {
  constexpr size_t kLimit = size_t{1} << 20;
  const auto close = [](FILE* file) { std::fclose(file); };
  const std::unique_ptr<FILE, decltype(close)> file(std::fopen(path.c_str(), "re"), close);
  if (file == nullptr) return std::nullopt;
  std::string text;
  char block[4096];
  // Files in /proc have no size beforehand: read until the end.
  while (text.size() < kLimit) {
    const size_t got = std::fread(block, 1, sizeof block, file.get());
    text.append(block, got);
    if (got < sizeof block) break;
  }
  if (std::ferror(file.get()) != 0) return std::nullopt;
  return text;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::optional<std::string_view> LineValue(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.substr(0, key.size()) == key) return Trimmed(line.substr(key.size()));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

std::optional<int64_t> WholeNumber(std::string_view text) {
  text = Trimmed(text);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> KilobyteValue(std::string_view text, std::string_view key) {
  const auto value = LineValue(text, key);
  if (!value || value->size() < 3 || value->substr(value->size() - 3) != " kB") return std::nullopt;
  const auto number = WholeNumber(value->substr(0, value->size() - 3));
  if (!number) return std::nullopt;
  return *number * 1024;
}

}  // namespace muster
