#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/flags.h"
#include "base/nearest.h"
#include "muster/error.h"

namespace muster {
namespace {

Error BadValue(const FlagSpec& spec, const std::string& text, const std::string& why) {
  return InvalidArgument(fmt::format("flag --{}={}: {}", spec.name, text, why));
}

// absl's help for a bounded number: "a non-negative number", "an integer in the range [1, 5]", "number <= 3".
std::string BoundsText(const FlagSpec& spec) {
  const bool integer = spec.type == FlagType::kInteger;
  const std::string name = integer ? "integer" : "number";
  const auto number = [&](double value) {
    return integer ? std::to_string(static_cast<int64_t>(value)) : PythonFloat(value);
  };
  const std::string article = integer ? "an" : "a";
  if (spec.lower && spec.upper) {
    return fmt::format("{} {} in the range [{}, {}]", article, name, number(*spec.lower), number(*spec.upper));
  }
  if (spec.lower == 0) return "a non-negative " + name;
  if (spec.upper == 0) return "a non-positive " + name;
  if (integer && spec.lower == 1) return "a positive " + name;
  if (spec.lower) return fmt::format("{} >= {}", name, number(*spec.lower));
  return fmt::format("{} <= {}", name, number(*spec.upper));
}

FlagValue ParseBoolean(const FlagSpec& spec, const std::string& text) {
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower == "true" || lower == "t" || lower == "1") return true;
  if (lower == "false" || lower == "f" || lower == "0") return false;
  throw BadValue(spec, text, "a boolean flag takes true or false");
}

FlagValue ParseInteger(const FlagSpec& spec, const std::string& text) {
  std::string_view digits = text;
  const bool negative = !digits.empty() && digits[0] == '-';
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.remove_prefix(1);
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    base = 16;
    digits.remove_prefix(2);
  }
  const std::string signed_digits = (negative ? "-" : "") + std::string(digits);
  int64_t value = 0;
  const char* end = signed_digits.data() + signed_digits.size();
  const auto [stop, error] = std::from_chars(signed_digits.data(), end, value, base);
  if (error == std::errc::result_out_of_range) throw BadValue(spec, text, "the number does not fit 64 bits");
  const bool leading_sign = !digits.empty() && digits[0] == '-';  // "--5", which from_chars would take after a '+'
  if (error != std::errc() || stop != end || leading_sign) {
    throw BadValue(spec, text, fmt::format("'{}' is not an integer", text));
  }
  return value;
}

FlagValue ParseFloat(const FlagSpec& spec, const std::string& text) {
  const char* begin = text.c_str() + (text[0] == '+' ? 1 : 0);
  double value = 0;
  const char* end = text.c_str() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc::result_out_of_range) throw BadValue(spec, text, "the number does not fit a double");
  if (error != std::errc() || stop != end) throw BadValue(spec, text, fmt::format("'{}' is not a number", text));
  if (std::isnan(value)) throw BadValue(spec, text, "not a number is no value for a flag");
  return value;
}

FlagValue ParseList(const std::string& text) {
  std::vector<std::string> items;
  if (text.empty()) return items;
  size_t begin = 0;
  while (true) {
    const size_t comma = text.find(',', begin);
    std::string item = text.substr(begin, comma == std::string::npos ? comma : comma - begin);
    const size_t first = item.find_first_not_of(' ');
    item = first == std::string::npos ? "" : item.substr(first, item.find_last_not_of(' ') - first + 1);
    items.push_back(std::move(item));
    if (comma == std::string::npos) return items;
    begin = comma + 1;
  }
}

Error UnknownFlag(const FlagTable& table, const std::string& name) {
  std::vector<std::string> known = {"help", "helpfull", "helpshort"};
  for (const FlagSpec& spec : table.specs()) known.push_back(spec.name);
  std::string message = fmt::format("Unknown command line flag '{}'", name);
  const std::vector<std::string> nearest = NearestWords(name, known);
  if (!nearest.empty()) message += fmt::format(". Did you mean: {} ?", fmt::join(nearest, ", "));
  return InvalidArgument(message);
}

// One word taken apart: "--name=value".
struct Word {
  std::string name;
  std::optional<std::string> value;
};

Word TakeApart(const std::string& word) {
  const std::string body = word.substr(word.compare(0, 2, "--") == 0 ? 2 : 1);
  const size_t equals = body.find('=');
  if (equals == std::string::npos) return {body, std::nullopt};
  return {body.substr(0, equals), body.substr(equals + 1)};
}

}  // namespace

FlagValue ParseFlagValue(const FlagSpec& spec, const std::string& text) {
  switch (spec.type) {
    case FlagType::kBoolean: return ParseBoolean(spec, text);
    case FlagType::kInteger: return ParseInteger(spec, text);
    case FlagType::kFloat:
      if (text.empty()) throw BadValue(spec, text, "'' is not a number");
      return ParseFloat(spec, text);
    case FlagType::kList: return ParseList(text);
    case FlagType::kString:
    case FlagType::kEnum: break;
  }
  return text;
}

void CheckFlagValue(const FlagSpec& spec, const FlagValue& value, const std::string& text) {
  if (const std::string* word = std::get_if<std::string>(&value); word && spec.type == FlagType::kEnum) {
    for (const std::string& allowed : spec.enum_values) {
      if (*word == allowed) return;
    }
    throw BadValue(spec, text, fmt::format("value should be one of <{}>", fmt::join(spec.enum_values, "|")));
  }
  double number = 0;
  if (const int64_t* integer = std::get_if<int64_t>(&value)) {
    number = static_cast<double>(*integer);
  } else if (const double* real = std::get_if<double>(&value)) {
    number = *real;
  } else {
    return;
  }
  if ((spec.lower && number < *spec.lower) || (spec.upper && number > *spec.upper)) {
    throw BadValue(spec, text, fmt::format("{} is not {}", FlagValueText(value), BoundsText(spec)));
  }
}

FlagValues ParseFlags(const FlagTable& table, const std::vector<std::string>& words) {
  FlagValues values;
  for (const FlagSpec& spec : table.specs()) values.values_[spec.name] = spec.default_value;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool is_flag = word.size() > 1 && word[0] == '-';
    if (!is_flag || word == "--") {
      values.positional_.assign(words.begin() + i + (is_flag ? 1 : 0), words.end());
      break;
    }
    auto [name, value] = TakeApart(word);
    const FlagSpec* spec = table.Find(name);
    if (spec == nullptr && (name == "help" || name == "h" || name == "helpshort" || name == "helpfull")) {
      (name == "helpfull" ? values.helpfull_ : values.help_) = true;
      return values;
    }
    values.words_.push_back(word);
    if (spec == nullptr && name.compare(0, 2, "no") == 0) {
      spec = table.Find(name.substr(2));
      if (spec != nullptr && spec->type != FlagType::kBoolean) spec = nullptr;
      if (spec != nullptr && value) throw InvalidArgument(fmt::format("{} does not take an argument", word));
      value = "false";
    }
    if (spec == nullptr) throw UnknownFlag(table, name);
    if (!value && spec->type == FlagType::kBoolean) value = "true";
    if (!value) {
      if (i + 1 == words.size()) throw InvalidArgument(fmt::format("Missing value for flag {}", word));
      value = words[++i];
      values.words_.push_back(*value);
    }
    FlagValue typed = ParseFlagValue(*spec, *value);
    CheckFlagValue(*spec, typed, *value);
    values.values_[spec->name] = std::move(typed);
    values.set_[spec->name] = true;
  }
  return values;
}

void RejectPositional(const FlagValues& values) {
  if (values.positional().empty()) return;
  std::string list;
  for (const std::string& word : values.positional()) list += fmt::format("{}'{}'", list.empty() ? "" : ", ", word);
  throw InvalidArgument(fmt::format("Received unknown positional arguments: [{}]", list));
}

}  // namespace muster
