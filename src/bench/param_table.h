#pragma once

#include <deque>
#include <string>
#include <variant>

#include "base/flags.h"
#include "bench/params.h"

namespace muster::bench {

// Ties a flag to the member of the record that holds it.
using ParamMember = std::variant<bool BenchParams::*, int64_t BenchParams::*, double BenchParams::*,
                                 std::string BenchParams::*, std::vector<std::string> BenchParams::*,
                                 std::optional<bool> BenchParams::*, std::optional<int64_t> BenchParams::*,
                                 std::optional<double> BenchParams::*, std::optional<std::string> BenchParams::*>;

struct ParamField {
  FlagSpec spec;
  ParamMember member;

  // Refinements, to be chained after ParamTable::Add.
  ParamField& OneOf(std::vector<std::string> values);
  ParamField& AtLeast(double bound);
  ParamField& AtMost(double bound);
  ParamField& Important();
};

// The fields of BenchParams as data. Types follow from the members, defaults from a default-constructed record.
class ParamTable {
 public:
  void Group(std::string group) { group_ = std::move(group); }
  ParamField& Add(std::string name, ParamMember member, std::string help);

  const std::deque<ParamField>& fields() const { return fields_; }

 private:
  std::deque<ParamField> fields_;  // a deque keeps the references that Add returns valid
  std::string group_;
};

// The field's value in a record, and the reverse.
FlagValue GetParam(const BenchParams& params, const ParamField& field);
void SetParam(BenchParams& params, const ParamField& field, const FlagValue& value);

// All fields of tf_cnn_benchmarks.
const ParamTable& BenchParamTable();

}  // namespace muster::bench
