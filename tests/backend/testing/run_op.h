#pragma once

#include <string>
#include <vector>

#include "muster/tensor.h"
#include "plan/kernel.h"

namespace muster::testing {

// One operation with values for its inputs, row-major on the host.
struct OpCase {
  OpKind kind;
  Attrs attrs;
  std::vector<Tensor> inputs;
  std::string name;  // the node's name; empty: the operation's
};

// How RunOp runs a kernel: the freedoms that a plan has.
struct RunOptions {
  DeviceCaps caps;
  bool use_wishes = false;  // give inputs and outputs the layouts that the row wishes for
  int missing_output = -1;  // an output that nothing reads: a null address
  int in_place = -1;        // the pair of PreparedKernel::in_place that shares memory
};

// Runs the operation by its row in the table, as a plan would: shapes from the graph's rules, kernel from Prepare,
// workspace and outputs filled with garbage before. Inputs that the operation updates in place are copied first.
// Returns the outputs, row-major (empty where missing), and after them the updated inputs. Throws Error when shapes do
// not fit, NotFound when there is no such row.
std::vector<Tensor> RunOp(const KernelTable& table, const OpCase& op, const RunOptions& options = {});

// The (output, input) pairs that the kernel says may share memory.
std::vector<std::pair<int, int>> InPlacePairs(const KernelTable& table, const OpCase& op);

// The descriptions that RunOp's request would have: what tells apart the rows of a table.
KernelRequest RequestFor(const OpCase& op);

// Values for tests: uniform in [low, high), always the same for a seed. Integers are whole numbers of that range.
Tensor RandomTensor(DType dtype, const Shape& shape, uint64_t seed, double low = -1, double high = 1);

// The elements as doubles, whatever the dtype.
std::vector<double> ToDoubles(const Tensor& tensor);
// The same values with another dtype.
Tensor Converted(const Tensor& tensor, DType dtype);

}  // namespace muster::testing
