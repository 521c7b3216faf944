#include "base/flags.h"

#include <fmt/format.h>

#include "base/check.h"

namespace muster {

const char* FlagTypeName(FlagType type) {
  switch (type) {
    case FlagType::kBoolean: return "boolean";
    case FlagType::kInteger: return "integer";
    case FlagType::kFloat: return "float";
    case FlagType::kString: return "string";
    case FlagType::kEnum: return "enum";
    case FlagType::kList: return "list";
  }
  return "unknown";
}

namespace {

bool HoldsType(const FlagValue& value, FlagType type) {
  switch (type) {
    case FlagType::kBoolean: return std::holds_alternative<bool>(value);
    case FlagType::kInteger: return std::holds_alternative<int64_t>(value);
    case FlagType::kFloat: return std::holds_alternative<double>(value);
    case FlagType::kString:
    case FlagType::kEnum: return std::holds_alternative<std::string>(value);
    case FlagType::kList: return std::holds_alternative<std::vector<std::string>>(value);
  }
  return false;
}

}  // namespace

FlagTable::FlagTable(std::vector<FlagSpec> specs) : specs_(std::move(specs)) {
  for (size_t i = 0; i < specs_.size(); ++i) {
    const FlagSpec& spec = specs_[i];
    const bool has_default = !std::holds_alternative<std::monostate>(spec.default_value);
    MUSTER_CHECK(!has_default || HoldsType(spec.default_value, spec.type));
    MUSTER_CHECK((spec.type == FlagType::kEnum) == !spec.enum_values.empty());
    MUSTER_CHECK(index_.emplace(spec.name, i).second);
  }
}

const FlagSpec* FlagTable::Find(std::string_view name) const {
  const auto it = index_.find(name);
  return it == index_.end() ? nullptr : &specs_[it->second];
}

FlagTable FlagTable::Plus(const FlagTable& other) const {
  std::vector<FlagSpec> all = specs_;
  all.insert(all.end(), other.specs_.begin(), other.specs_.end());
  return FlagTable(std::move(all));
}

bool FlagValues::is_set(std::string_view name) const {
  MUSTER_CHECK(values_.find(name) != values_.end());
  return set_.find(name) != set_.end();
}

const FlagValue& FlagValues::Get(std::string_view name) const {
  const auto it = values_.find(name);
  MUSTER_CHECK(it != values_.end());
  return it->second;
}

bool FlagValues::has_value(std::string_view name) const { return !std::holds_alternative<std::monostate>(Get(name)); }

namespace {

template <typename T>
const T& Typed(const FlagValue& value) {
  const T* typed = std::get_if<T>(&value);
  MUSTER_CHECK(typed != nullptr);
  return *typed;
}

template <typename T>
std::optional<T> Optional(const FlagValue& value) {
  if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
  return Typed<T>(value);
}

}  // namespace

bool FlagValues::GetBool(std::string_view name) const { return Typed<bool>(Get(name)); }
int64_t FlagValues::GetInt(std::string_view name) const { return Typed<int64_t>(Get(name)); }
double FlagValues::GetFloat(std::string_view name) const { return Typed<double>(Get(name)); }
const std::string& FlagValues::GetString(std::string_view name) const { return Typed<std::string>(Get(name)); }
const std::vector<std::string>& FlagValues::GetList(std::string_view name) const {
  return Typed<std::vector<std::string>>(Get(name));
}
std::optional<int64_t> FlagValues::FindInt(std::string_view name) const { return Optional<int64_t>(Get(name)); }
std::optional<double> FlagValues::FindFloat(std::string_view name) const { return Optional<double>(Get(name)); }
std::optional<std::string> FlagValues::FindString(std::string_view name) const {
  return Optional<std::string>(Get(name));
}

std::string PythonFloat(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";  // "e": exponent, "n": nan and inf
  return text;
}

std::string FlagValueText(const FlagValue& value) {
  if (const bool* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
  if (const int64_t* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  if (const double* real = std::get_if<double>(&value)) return PythonFloat(*real);
  if (const std::string* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    return fmt::format("{}", fmt::join(*list, ","));
  }
  return "";
}

}  // namespace muster
