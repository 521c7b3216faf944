#pragma once

#include <string>

#include "tests/golden/op_case.h"

namespace muster::testing {

// How one operation of ops/index.json is built and how closely it must agree, after ops/README.md: |a - b| <= tolerance
// * max(1, max_abs); 0 asks for equality in float32.
struct OpBuilder {
  const char* op;
  void (*build)(CaseGraph& c);
  double tolerance = 1e-6;
  bool has_format = false;         // images: run in both data formats
  double gradient_tolerance = -1;  // of dx, where it differs
};

// The builder of an operation, or nullptr.
const OpBuilder* FindOpBuilder(const std::string& op);

}  // namespace muster::testing
