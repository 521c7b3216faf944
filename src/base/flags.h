#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace muster {

// Command-line flags as data. A command builds a FlagTable, ParseFlags reads the words against it and returns the
// values; nothing is global and nothing registers itself. (absl::flags keeps one table per process, filled by static
// constructors, so that two subcommands cannot give one flag different defaults, and a library cannot have none.)
//
// Syntax is absl's: --x=v, --x v, --flag, --noflag, --flag=true|false, one dash for two; "--" ends the flags, and so
// does the first word that is no flag; of several settings of one flag the last counts.

enum class FlagType { kBoolean, kInteger, kFloat, kString, kEnum, kList };

// The type's name as absl's help output spells it, for example "integer".
const char* FlagTypeName(FlagType type);

// monostate: no value (a flag without default that was not set).
using FlagValue = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<std::string>>;

// One flag. The default's alternative is monostate or the one that the type asks for (kEnum: string).
struct FlagSpec {
  std::string name;
  FlagType type = FlagType::kString;
  FlagValue default_value;
  std::string help;
  std::string group;                     // heading in the help
  std::vector<std::string> enum_values;  // kEnum only
  std::optional<double> lower;           // kInteger, kFloat: inclusive bounds
  std::optional<double> upper;
  bool important = false;  // shown by --help; --helpfull shows all
};

// An ordered list of flags. Plain value; constant after construction.
class FlagTable {
 public:
  // Names must differ and defaults must fit the type (a failed CHECK otherwise: tables are our own code).
  explicit FlagTable(std::vector<FlagSpec> specs);

  const std::vector<FlagSpec>& specs() const& { return specs_; }
  const std::vector<FlagSpec>& specs() && = delete;   // a loop over a temporary table's flags would read freed memory
  const FlagSpec* Find(std::string_view name) const;  // null when there is none

  // A table with the flags of both, these first.
  FlagTable Plus(const FlagTable& other) const;

 private:
  std::vector<FlagSpec> specs_;
  std::map<std::string, size_t, std::less<>> index_;
};

// What a command line said. Typed getters check that the flag exists with that type: asking for another is our bug.
class FlagValues {
 public:
  bool is_set(std::string_view name) const;  // the command line named it, even with the default's value
  const FlagValue& Get(std::string_view name) const;
  bool has_value(std::string_view name) const;  // set, or has a default

  bool GetBool(std::string_view name) const;
  int64_t GetInt(std::string_view name) const;
  double GetFloat(std::string_view name) const;
  const std::string& GetString(std::string_view name) const;
  const std::vector<std::string>& GetList(std::string_view name) const;
  std::optional<int64_t> FindInt(std::string_view name) const;
  std::optional<double> FindFloat(std::string_view name) const;
  std::optional<std::string> FindString(std::string_view name) const;

  const std::vector<std::string>& positional() const { return positional_; }
  bool help() const { return help_; }
  bool helpfull() const { return helpfull_; }

  // The words that set flags, as written; what a result file needs to repeat the run.
  const std::vector<std::string>& words() const { return words_; }

 private:
  friend FlagValues ParseFlags(const FlagTable& table, const std::vector<std::string>& words);

  std::map<std::string, FlagValue, std::less<>> values_;
  std::map<std::string, bool, std::less<>> set_;
  std::vector<std::string> positional_;
  std::vector<std::string> words_;
  bool help_ = false;
  bool helpfull_ = false;
};

// Reads "words" (without the program's and the command's name). Throws InvalidArgument with one line for an unknown
// flag (with the nearest known ones), a missing value, a value of the wrong type or out of bounds. Words that are no
// flags end up in positional(); commands that take none call RejectPositional. --help and --helpfull are known to
// every table and make everything else on the line irrelevant.
FlagValues ParseFlags(const FlagTable& table, const std::vector<std::string>& words);

// Throws InvalidArgument naming the words when there are any.
void RejectPositional(const FlagValues& values);

// Parses one value of a flag; the error names flag and text.
FlagValue ParseFlagValue(const FlagSpec& spec, const std::string& text);

// Checks the bounds and enum values of a typed value; "text" is how the user wrote it.
void CheckFlagValue(const FlagSpec& spec, const FlagValue& value, const std::string& text);

// A value as a command line would write it ("" for none; list items joined by commas).
std::string FlagValueText(const FlagValue& value);

// A floating-point number in Python's notation: always with a point or an exponent, for example "-1.0", "1e-08".
std::string PythonFloat(double value);

}  // namespace muster
