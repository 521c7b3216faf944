#include <array>

#include "base/check.h"
#include "graph/op_def.h"

namespace muster {
namespace {

struct OpTable {
  std::array<const OpDef*, kNumOpKinds> rows{};

  OpTable() {
    for (auto family : {StateOps(), ElementwiseOps(), ActivationOps(), ArrayOps(), ReductionOps(), MatMulOps(),
                        ConvOps(), PoolOps(), NormOps(), LossOps(), RandomOps(), ApplyOps(), CompilerOps()})
      for (const OpDef& row : family) {
        MUSTER_CHECK(rows[static_cast<size_t>(row.kind)] == nullptr);
        rows[static_cast<size_t>(row.kind)] = &row;
      }
  }
};

}  // namespace

const OpDef& GetOpDef(OpKind kind) {
  static const OpTable table;
  const OpDef* row = table.rows[static_cast<size_t>(kind)];
  MUSTER_CHECK(row != nullptr);
  return *row;
}

}  // namespace muster
