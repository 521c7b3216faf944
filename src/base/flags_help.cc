#include "base/flags_help.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster {
namespace {

constexpr size_t kColumns = 100;
constexpr size_t kIndent = 4;

std::vector<std::string> Groups(const FlagTable& table) {
  std::vector<std::string> groups;
  for (const FlagSpec& spec : table.specs()) {
    bool seen = false;
    for (const std::string& group : groups) seen = seen || group == spec.group;
    if (!seen) groups.push_back(spec.group);
  }
  return groups;
}

// How a flag is written: "--[no]eval", "--batch_size=N", "--optimizer=momentum|sgd".
std::string Spelling(const FlagSpec& spec) {
  switch (spec.type) {
    case FlagType::kBoolean: return fmt::format("--[no]{}", spec.name);
    case FlagType::kInteger: return fmt::format("--{}=N", spec.name);
    case FlagType::kFloat: return fmt::format("--{}=X", spec.name);
    case FlagType::kEnum: return fmt::format("--{}={}", spec.name, fmt::join(spec.enum_values, "|"));
    case FlagType::kString: return fmt::format("--{}=TEXT", spec.name);
    case FlagType::kList: return fmt::format("--{}=A,B", spec.name);
  }
  return "--" + spec.name;
}

std::string DefaultText(const FlagSpec& spec) {
  if (std::holds_alternative<std::monostate>(spec.default_value)) return "none";
  const std::string text = FlagValueText(spec.default_value);
  return text.empty() ? "''" : text;
}

// Breaks "text" at spaces into lines of at most kColumns, each after "indent" spaces.
std::string Wrapped(const std::string& text, size_t indent) {
  std::string result, line;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = text.find(' ', begin);
    if (end == std::string::npos) end = text.size();
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() && indent + line.size() + 1 + word.size() > kColumns) {
      result += std::string(indent, ' ') + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  if (!line.empty()) result += std::string(indent, ' ') + line + "\n";
  return result;
}

}  // namespace

std::string HelpText(const std::string& usage, const FlagTable& table) {
  constexpr size_t kLeft = 30;
  std::string text = usage;
  for (const std::string& group : Groups(table)) {
    std::string lines;
    for (const FlagSpec& spec : table.specs()) {
      if (!spec.important || spec.group != group) continue;
      const bool has_default = !FlagValueText(spec.default_value).empty();
      const std::string help = has_default ? fmt::format("{} ({})", spec.help, DefaultText(spec)) : spec.help;
      // Beside the flag where it leaves room, and on in the same column; below it only when the flag itself is too
      // long.
      const std::string left = fmt::format("  {:<{}} ", Spelling(spec), kLeft);
      const bool beside = left.size() == kLeft + 3 || left.size() + help.size() <= kColumns;
      const std::string text_lines = Wrapped(help, left.size() > kLeft + 3 && beside ? left.size() : kLeft + 3);
      lines += beside ? left + text_lines.substr(std::min(left.size(), text_lines.size()))
                      : left.substr(0, left.find_last_not_of(' ') + 1) + "\n" + text_lines;
    }
    if (!lines.empty()) text += group + "\n" + lines;
  }
  return text + "All flags: --helpfull\n";
}

std::string HelpFullText(const std::string& usage, const FlagTable& table) {
  std::string text = usage;
  for (const std::string& group : Groups(table)) {
    text += "\n" + group + "\n";
    for (const FlagSpec& spec : table.specs()) {
      if (spec.group != group) continue;
      text += fmt::format("  {}  ({}; default: {})\n", Spelling(spec), FlagTypeName(spec.type), DefaultText(spec));
      text += Wrapped(spec.help, kIndent + 2);
    }
  }
  return text;
}

}  // namespace muster
