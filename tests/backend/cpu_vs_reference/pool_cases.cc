#include "backend/reference/reference_table.h"
#include "graph/ops/window.h"
#include "tests/backend/cpu_vs_reference/op_cases.h"

namespace muster::testing {

void AddPoolCases(OpCases* cases) {
  struct Size {
    Shape x;
    PoolAttrs attrs;
  };
  const Size sizes[] = {
      {{2, 7, 8, 3}, {.ksize = {2, 2}, .strides = {2, 2}}},
      {{2, 8, 7, 5}, {.ksize = {3, 3}, .strides = {2, 2}, .padding = Padding::kSame}},
      {{2, 8, 7, 16}, {.ksize = {3, 3}, .strides = {1, 1}, .padding = Padding::kSame}},
      {{2, 9, 9, 33}, {.ksize = {3, 2}, .strides = {2, 1}}},
      {{2, 6, 6, 4}, {.ksize = {1, 1}, .strides = {2, 2}}},
      {{3, 7, 7, 64}, {.ksize = {7, 7}, .strides = {1, 1}}},
      {{1, 12, 12, 8},
       {.ksize = {3, 3}, .strides = {2, 2}, .padding = Padding::kExplicit, .explicit_paddings = {1, 1, 1, 1}}},
      {{1, 4, 4, 1}, {.ksize = {5, 5}, .strides = {3, 3}, .padding = Padding::kSame}},
      {{4, 28, 28, 32}, {.ksize = {2, 2}, .strides = {2, 2}, .padding = Padding::kSame}},
  };
  for (const Size& size : sizes)
    for (bool ties : {false, true}) {
      const Tensor x = ties ? RandomHalves(size.x) : Random(size.x);
      const Shape pooled = ImageShape(PoolGeometryOf(size.x, size.attrs).output(), DataFormat::kNHWC);
      const Tensor y = RunOp(ReferenceTable(), {OpKind::kMaxPool, size.attrs, {x}, ""})[0];
      Add(cases, OpKind::kMaxPool, size.attrs, {x});
      Add(cases, OpKind::kMaxPoolGrad, size.attrs, {x, y, Random(pooled)});
      Add(cases, OpKind::k_MaxPoolReluGrad, size.attrs, {x, y, Random(pooled)});
      Add(cases, OpKind::kAvgPool, size.attrs, {x});
      PoolAttrs attrs = size.attrs;
      attrs.target_shape = size.x;
      Add(cases, OpKind::kAvgPoolGrad, attrs, {Random(pooled)});
    }
}

}  // namespace muster::testing
