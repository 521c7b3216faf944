// Where a kernel says that an output may take an input's memory, the result must not change.
#include <cstring>

#include <gtest/gtest.h>

#include "backend/reference/reference_table.h"
#include "tests/backend/testing/run_op.h"

namespace muster {
namespace {

using testing::OpCase;

const Tensor kA = testing::RandomTensor(DType::kFloat32, {3, 5}, 1, 0.1, 2),
             kB = testing::RandomTensor(DType::kFloat32, {3, 5}, 2, 0.1, 2);
const Tensor kRow = testing::RandomTensor(DType::kFloat32, {5}, 3, 0.1, 2);

std::vector<OpCase> Cases() {
  std::vector<OpCase> cases;
  for (OpKind kind : {OpKind::kAdd, OpKind::kSub, OpKind::kMul, OpKind::kDiv, OpKind::kPow, OpKind::kMaximum,
                      OpKind::kMinimum, OpKind::kSquaredDifference}) {
    cases.push_back({kind, NoAttrs{}, {kA, kB}});
    cases.push_back({kind, NoAttrs{}, {kA, kRow}});
    cases.push_back({kind, NoAttrs{}, {kRow, kA}});
  }
  for (OpKind kind : {OpKind::kNeg, OpKind::kSqrt, OpKind::kExp, OpKind::kRelu, OpKind::kSigmoid, OpKind::kSoftplus})
    cases.push_back({kind, NoAttrs{}, {kA}});
  for (OpKind kind : {OpKind::kReluGrad, OpKind::kRelu6Grad, OpKind::kSigmoidGrad, OpKind::kTanhGrad,
                      OpKind::kSoftplusGrad, OpKind::kAddN})
    cases.push_back({kind, NoAttrs{}, {kA, kB}});
  cases.push_back({OpKind::kSelect, NoAttrs{}, {testing::Converted(kB, DType::kBool), kA, kB}});
  cases.push_back({OpKind::kCast, CastAttrs{DType::kInt32}, {kA}});
  cases.push_back({OpKind::kReshape, ShapeAttrs{{5, 3}}, {kA}});
  return cases;
}

TEST(ReferenceInPlace, SharedMemoryGivesTheSameResult) {
  for (const OpCase& op : Cases()) {
    const KernelRequest request = testing::RequestFor(op);
    PreparedKernel prepared = ReferenceTable().Find(op.kind, KernelDType(request))->prepare(request, {});
    ASSERT_FALSE(prepared.in_place.empty()) << OpName(op.kind);
    const Tensor expected = testing::RunOp(ReferenceTable(), op)[0];
    for (const auto& [output, input] : prepared.in_place) {
      ASSERT_EQ(request.inputs[static_cast<size_t>(input)].byte_size(),
                request.outputs[static_cast<size_t>(output)].byte_size());
      std::vector<Tensor> copies;
      std::vector<void*> addresses;
      for (const Tensor& x : op.inputs) {
        copies.push_back(x.Clone());
        addresses.push_back(copies.back().raw());
      }
      void* out = addresses[static_cast<size_t>(input)];
      prepared.kernel->Launch({.inputs = addresses.data(), .outputs = &out});
      EXPECT_EQ(std::memcmp(out, expected.raw(), expected.byte_size()), 0)
          << OpName(op.kind) << " over input " << input;
    }
  }
}

}  // namespace
}  // namespace muster
