#pragma once

#include <map>
#include <vector>

#include "tests/backend/testing/run_op.h"

namespace muster::testing {

// Inputs for each operation, floating-point ones as float32: the test converts them to the dtype of the row under test.
using OpCases = std::map<OpKind, std::vector<OpCase>>;

void AddElementwiseCases(OpCases* cases);
void AddArrayCases(OpCases* cases);
void AddReductionCases(OpCases* cases);
void AddDenseCases(OpCases* cases);  // matrix products, biases, losses
void AddConvCases(OpCases* cases);
void AddPoolCases(OpCases* cases);
void AddNormCases(OpCases* cases);
void AddUpdateCases(OpCases* cases);
void AddSourceCases(OpCases* cases);  // Fill, random numbers, assignments

// A float32 tensor of random values; every call gives other ones.
Tensor Random(const Shape& shape, double low = -1, double high = 1);
// Multiples of a half, so that many are equal.
Tensor RandomHalves(const Shape& shape, double low = -2, double high = 2);
// Whole numbers in [0, limit).
Tensor RandomIndices(DType dtype, const Shape& shape, int64_t limit);

// Adds a case.
inline void Add(OpCases* cases, OpKind kind, Attrs attrs, std::vector<Tensor> inputs) {
  (*cases)[kind].push_back({kind, std::move(attrs), std::move(inputs), ""});
}

}  // namespace muster::testing
