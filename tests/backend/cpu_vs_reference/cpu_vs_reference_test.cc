#include <cmath>

#include <gtest/gtest.h>

#include "backend/cpu/cpu_table.h"
#include "backend/reference/reference_table.h"
#include "muster/error.h"
#include "tests/backend/cpu_vs_reference/op_cases.h"

namespace muster::testing {
namespace {

const KernelTable& CpuTable() {
  static const KernelTable table({CpuRows()});
  return table;
}

const OpCases& Cases() {
  static const OpCases cases = [] {
    OpCases all;
    for (auto add : {AddElementwiseCases, AddArrayCases, AddReductionCases, AddDenseCases, AddConvCases, AddPoolCases,
                     AddNormCases, AddUpdateCases, AddSourceCases})
      add(&all);
    return all;
  }();
  return cases;
}

// The case with its floating-point inputs (and the dtype it makes, if it has none) as "dtype".
OpCase WithDType(OpCase op, DType dtype) {
  for (Tensor& input : op.inputs)
    if (input.dtype() == DType::kFloat32) input = Converted(input, dtype);
  if (auto* fill = op.attrs.get_if<FillAttrs>()) fill->dtype = dtype;
  if (auto* random = op.attrs.get_if<RandomAttrs>()) random->dtype = dtype;
  return op;
}

// Largest difference allowed, in units of the largest expected value.
double ToleranceOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return 1e-12;
    case DType::kFloat32: return 1e-5;
    case DType::kFloat16: return 2e-3;
    case DType::kBFloat16: return 2e-2;
    default: return 0;
  }
}

void ExpectAgrees(const Tensor& actual, const Tensor& expected, size_t index) {
  ASSERT_EQ(actual.shape(), expected.shape());
  const auto a = ToDoubles(actual), b = ToDoubles(expected);
  double scale = 1;
  for (double value : b)
    if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  const double limit = ToleranceOf(expected.dtype()) * scale;
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_TRUE(a[i] == b[i] || std::abs(a[i] - b[i]) <= limit)
        << "result " << index << ", element " << i << " is " << a[i] << ", the reference has " << b[i];
}

void ExpectAllAgree(const OpCase& op, const std::vector<Tensor>& expected, const RunOptions& options) {
  const auto actual = RunOp(CpuTable(), op, options);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    if (!actual[i].is_empty()) ExpectAgrees(actual[i], expected[i], i);
}

std::string Describe(const OpCase& op) {
  std::string text = std::string(OpName(op.kind)) + "(";
  for (const Tensor& input : op.inputs) text += input.desc().ToString() + " ";
  return text + ")";
}

// One case with every freedom that a plan has.
void CheckCase(const OpCase& op) {
  const auto expected = RunOp(ReferenceTable(), op);
  for (int threads : {1, 2})
    for (bool wishes : {false, true}) {
      SCOPED_TRACE(::testing::Message() << threads << " threads" << (wishes ? ", in the row's layouts" : ""));
      ExpectAllAgree(op, expected, {.caps = {threads}, .use_wishes = wishes});
    }
  const auto pairs = InPlacePairs(CpuTable(), op);
  for (int i = 0; i < static_cast<int>(pairs.size()); ++i) {
    SCOPED_TRACE(::testing::Message() << "output " << pairs[static_cast<size_t>(i)].first << " in place of input "
                                      << pairs[static_cast<size_t>(i)].second);
    ExpectAllAgree(op, expected, {.caps = {2}, .in_place = i});
  }
  const int num_outputs = static_cast<int>(RequestFor(op).outputs.size());
  for (int i = 0; num_outputs > 1 && i < num_outputs; ++i) {
    // The compiler fuses the bias gradient to a filter gradient that is read.
    if (op.kind == OpKind::k_FusedConv2DBackpropFilter && i == 0) continue;
    SCOPED_TRACE(::testing::Message() << "without output " << i);
    ExpectAllAgree(op, expected, {.caps = {2}, .missing_output = i});
  }
}

// A filter in the form that a convolution wishes for, there and back.
void CheckReorder(DType dtype) {
  int opaque = 0;
  for (const OpCase& conv : Cases().at(OpKind::kConv2D)) {
    const OpCase op = WithDType(conv, dtype);
    KernelRequest request = RequestFor(op);
    const KernelRow* row = CpuTable().Find(OpKind::kConv2D, dtype);
    if (row == nullptr || row->layout == nullptr) continue;
    const Layout layout = row->layout(request, {2}).inputs[1];
    if (layout.is_plain()) continue;
    ++opaque;
    const TensorDesc plain = op.inputs[1].desc(), packed{plain.dtype, plain.shape, layout};
    const Attrs attrs = NoAttrs{};
    const auto reorder = [&](const TensorDesc& from, const TensorDesc& to, void* source, void* target) {
      PreparedKernel prepared =
          CpuTable().Find(OpKind::k_Reorder, dtype)->prepare({OpKind::k_Reorder, &attrs, {from}, {to}, "reorder"}, {2});
      const auto workspace = Buffer::OnHost(static_cast<size_t>(prepared.workspace_bytes));
      prepared.kernel->Launch({&source, &target, workspace->data(), 0, nullptr});
    };
    const auto there = Buffer::OnHost(static_cast<size_t>(packed.byte_size()));
    Tensor back(plain.dtype, plain.shape);
    reorder(plain, packed, op.inputs[1].raw(), there->data());
    reorder(packed, plain, there->data(), back.raw());
    EXPECT_EQ(ToDoubles(back), ToDoubles(op.inputs[1])) << Describe(op);
  }
  EXPECT_GT(opaque, 0) << "no convolution wishes for a form of its own";
}

class CpuRow : public ::testing::TestWithParam<KernelRow> {};

TEST_P(CpuRow, AgreesWithTheReference) {
  const KernelRow row = GetParam();
  if (row.kind == OpKind::k_Reorder) return CheckReorder(row.dtype);
  const auto it = Cases().find(row.kind);
  ASSERT_TRUE(it != Cases().end()) << "the CPU backend computes " << OpName(row.kind)
                                   << ", but op_cases.h has no case of it";
  int tested = 0;
  for (const OpCase& original : it->second) {
    const OpCase op = WithDType(original, row.dtype);
    SCOPED_TRACE(::testing::Message() << Describe(op) << ", case " << &original - it->second.data());
    try {
      if (KernelDType(RequestFor(op)) != row.dtype) continue;
      ++tested;
      CheckCase(op);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(tested, 0) << "no case of " << OpName(row.kind) << " has dtype " << DTypeName(row.dtype);
}

// Batch norm of bfloat16 activations with float32 parameters, as networks in bfloat16 have it: a form of its own, while
// that of the row's cases, whose parameters are bfloat16 too, is computed in float32.
class BFloat16BatchNorm : public ::testing::TestWithParam<OpKind> {};

TEST_P(BFloat16BatchNorm, WithFloat32ParametersAgreesWithTheReference) {
  for (const OpCase& original : Cases().at(GetParam())) {
    OpCase op = original;
    const Shape shape = op.inputs[0].shape();
    if (shape[0] * shape[1] * shape[2] < 16)
      continue;  // the gradient is then a small rest of large numbers, each rounded
    for (Tensor& input : op.inputs)
      if (input.shape().rank() == 4) input = Converted(input, DType::kBFloat16);
    SCOPED_TRACE(::testing::Message() << Describe(op) << ", case " << &original - Cases().at(GetParam()).data());
    CheckCase(op);
    if (HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(, BFloat16BatchNorm,
                         ::testing::Values(OpKind::kFusedBatchNorm, OpKind::kFusedBatchNormGrad,
                                           OpKind::k_FusedBatchNormEx, OpKind::k_FusedBatchNormGradEx),
                         [](const auto& info) { return std::string(OpName(info.param)); });

// The oracle has the same freedoms, which these cases exercise as well.
TEST(ReferenceRow, AnyOutputMayBeUnread) {
  for (const auto& [kind, cases] : Cases())
    for (const OpCase& op : cases) {
      const auto expected = RunOp(ReferenceTable(), op);
      const size_t num_outputs = RequestFor(op).outputs.size();
      for (size_t missing = 0; num_outputs > 1 && missing < num_outputs; ++missing) {
        const auto actual = RunOp(ReferenceTable(), op, {.missing_output = static_cast<int>(missing)});
        for (size_t i = 0; i < num_outputs; ++i)
          if (i != missing) {
            ASSERT_EQ(ToDoubles(actual[i]), ToDoubles(expected[i])) << Describe(op);
          }
      }
    }
}

TEST(ReferenceRow, OutputsMayTakeThePlaceOfInputs) {
  for (const auto& [kind, cases] : Cases())
    for (const OpCase& op : cases) {
      const auto pairs = InPlacePairs(ReferenceTable(), op);
      if (pairs.empty()) continue;
      const auto expected = RunOp(ReferenceTable(), op);
      for (int i = 0; i < static_cast<int>(pairs.size()); ++i) {
        const auto actual = RunOp(ReferenceTable(), op, {.in_place = i});
        for (size_t j = 0; j < actual.size(); ++j)
          ASSERT_EQ(ToDoubles(actual[j]), ToDoubles(expected[j])) << Describe(op);
      }
    }
}

std::string RowName(const ::testing::TestParamInfo<KernelRow>& info) {
  return std::string(OpName(info.param.kind)) + "_" + std::string(DTypeName(info.param.dtype));
}

INSTANTIATE_TEST_SUITE_P(, CpuRow, ::testing::ValuesIn(CpuRows()), RowName);

}  // namespace
}  // namespace muster::testing
