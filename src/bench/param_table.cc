#include "bench/param_table.h"

#include "base/check.h"

namespace muster::bench {

void AddRunParams(ParamTable& table);       // flags_run.cc
void AddTrainingParams(ParamTable& table);  // flags_training.cc

namespace {

template <typename T>
constexpr FlagType kTypeOf = FlagType::kList;
template <>
constexpr FlagType kTypeOf<bool> = FlagType::kBoolean;
template <>
constexpr FlagType kTypeOf<int64_t> = FlagType::kInteger;
template <>
constexpr FlagType kTypeOf<double> = FlagType::kFloat;
template <>
constexpr FlagType kTypeOf<std::string> = FlagType::kString;

template <typename T>
FlagType TypeOfMember(T BenchParams::*) {
  return kTypeOf<T>;
}
template <typename T>
FlagType TypeOfMember(std::optional<T> BenchParams::*) {
  return kTypeOf<T>;
}

template <typename T>
FlagValue Read(const BenchParams& params, T BenchParams::*member) {
  return params.*member;
}
template <typename T>
FlagValue Read(const BenchParams& params, std::optional<T> BenchParams::*member) {
  if (params.*member) return *(params.*member);
  return std::monostate{};
}

template <typename T>
void Write(BenchParams& params, T BenchParams::*member, const FlagValue& value) {
  params.*member = std::get<T>(value);
}
template <typename T>
void Write(BenchParams& params, std::optional<T> BenchParams::*member, const FlagValue& value) {
  params.*member = std::holds_alternative<std::monostate>(value) ? std::nullopt : std::optional<T>(std::get<T>(value));
}

}  // namespace

ParamField& ParamField::OneOf(std::vector<std::string> values) {
  spec.type = FlagType::kEnum;
  spec.enum_values = std::move(values);
  return *this;
}
ParamField& ParamField::AtLeast(double bound) {
  spec.lower = bound;
  return *this;
}
ParamField& ParamField::AtMost(double bound) {
  spec.upper = bound;
  return *this;
}
ParamField& ParamField::Important() {
  spec.important = true;
  return *this;
}

ParamField& ParamTable::Add(std::string name, ParamMember member, std::string help) {
  ParamField field;
  field.member = member;
  field.spec.name = std::move(name);
  field.spec.help = std::move(help);
  field.spec.group = group_;
  field.spec.type = std::visit([](auto pointer) { return TypeOfMember(pointer); }, member);
  field.spec.default_value = GetParam(BenchParams{}, field);
  fields_.push_back(std::move(field));
  return fields_.back();
}

FlagValue GetParam(const BenchParams& params, const ParamField& field) {
  return std::visit([&](auto pointer) { return Read(params, pointer); }, field.member);
}

void SetParam(BenchParams& params, const ParamField& field, const FlagValue& value) {
  std::visit([&](auto pointer) { Write(params, pointer, value); }, field.member);
}

const ParamTable& BenchParamTable() {
  static const ParamTable table = [] {
    ParamTable all;
    AddRunParams(all);
    AddTrainingParams(all);
    return all;
  }();
  return table;
}

}  // namespace muster::bench
