#pragma once

#include <array>
#include <initializer_list>

#include "backend/cpu/onednn_adapter.h"
#include "plan/kernel.h"

namespace muster::cpu {

// Where one of a primitive's addresses comes from: an input or an output of the node.
struct Operand {
  bool is_output;
  int index;
};
constexpr Operand In(int index) { return {false, index}; }
constexpr Operand Out(int index) { return {true, index}; }

// A kernel that is one oneDNN primitive; "operands" name its addresses in the order that its maker documents. Outputs
// that nothing reads (nullptr) get scrap_bytes of the workspace, so every optional output must fit in there.
PreparedKernel PrimitiveKernel(onednn::Primitive primitive, std::initializer_list<Operand> operands,
                               int64_t scrap_bytes = 0);

}  // namespace muster::cpu
