#include <gtest/gtest.h>

#include "graph/op_def.h"

namespace muster {
namespace {

TEST(OpTable, EveryKindHasARowOfItsOwn) {
  for (size_t i = 0; i < kNumOpKinds; ++i) {
    const OpKind kind = static_cast<OpKind>(i);
    EXPECT_EQ(GetOpDef(kind).kind, kind) << OpName(kind);
    EXPECT_NE(GetOpDef(kind).shape_rule, nullptr) << OpName(kind);
  }
}

}  // namespace
}  // namespace muster
