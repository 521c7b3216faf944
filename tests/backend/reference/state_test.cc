#include <gtest/gtest.h>

#include "backend/reference/reference_table.h"
#include "tests/backend/testing/run_op.h"

namespace muster {
namespace {

using testing::RunOp;
using testing::ToDoubles;

constexpr DType kAllTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
                               DType::kInt32,   DType::kInt64,   DType::kUInt8,   DType::kBool};

TEST(ReferenceState, FillAndAssignWorkForEveryType) {
  for (DType dtype : kAllTypes) {
    const Tensor ones = RunOp(ReferenceTable(), {OpKind::kFill, FillAttrs{dtype, {3}, 1}, {}})[0];
    EXPECT_EQ(ToDoubles(ones), (std::vector<double>{1, 1, 1})) << DTypeName(dtype);
    const Tensor var(dtype, {3});
    const auto out = RunOp(ReferenceTable(), {OpKind::kAssign, NoAttrs{}, {var, ones}});
    EXPECT_EQ(ToDoubles(out[1]), ToDoubles(ones)) << DTypeName(dtype);
  }
}

TEST(ReferenceState, AssignAddAndSubUpdateTheVariable) {
  const Tensor var = Tensor::Of<int64_t>({2}, {5, 6}), value = Tensor::Of<int64_t>({2}, {1, 2});
  EXPECT_EQ(ToDoubles(RunOp(ReferenceTable(), {OpKind::kAssignAdd, NoAttrs{}, {var, value}})[1]),
            (std::vector<double>{6, 8}));
  EXPECT_EQ(ToDoubles(RunOp(ReferenceTable(), {OpKind::kAssignSub, NoAttrs{}, {var, value}})[1]),
            (std::vector<double>{4, 4}));
}

// A form of float32 [n] that stores the elements backwards, with one zero behind them.
class Backwards final : public OpaqueFormat {
 public:
  Backwards(int64_t n, std::string key) : n_(n), key_(std::move(key)) {}
  const std::string& key() const override { return key_; }
  int64_t byte_size() const override { return (n_ + 1) * 4; }
  void Pack(const void* plain, void* packed) const override {
    Copy(plain, packed);
    static_cast<float*>(packed)[n_] = 0;
  }
  void Unpack(const void* packed, void* plain) const override { Copy(packed, plain); }

 private:
  void Copy(const void* from, void* to) const {
    for (int64_t i = 0; i < n_; ++i) static_cast<float*>(to)[i] = static_cast<const float*>(from)[n_ - 1 - i];
  }
  int64_t n_;
  std::string key_;
};

std::vector<float> Reorder(const std::vector<float>& from, const Layout& from_layout, const Layout& to_layout) {
  const Attrs attrs = NoAttrs{};
  const KernelRequest request{
      OpKind::k_Reorder, &attrs, {{DType::kFloat32, {3}, from_layout}}, {{DType::kFloat32, {3}, to_layout}}};
  PreparedKernel prepared = ReferenceTable().Find(OpKind::k_Reorder, DType::kFloat32)->prepare(request, {});
  std::vector<float> source = from, result(static_cast<size_t>(request.outputs[0].byte_size()) / 4);
  std::vector<char> workspace(static_cast<size_t>(prepared.workspace_bytes));
  void *in = source.data(), *out = result.data();
  prepared.kernel->Launch({&in, &out, workspace.data()});
  return result;
}

TEST(ReferenceState, ReorderGoesBetweenAnyTwoForms) {
  const Layout plain, a(std::make_shared<Backwards>(3, "a")), b(std::make_shared<Backwards>(3, "b"));
  EXPECT_EQ(Reorder({1, 2, 3}, plain, a), (std::vector<float>{3, 2, 1, 0}));
  EXPECT_EQ(Reorder({3, 2, 1, 0}, a, plain), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(Reorder({3, 2, 1, 0}, a, b), (std::vector<float>{3, 2, 1, 0}));
  EXPECT_EQ(Reorder({1, 2, 3}, plain, plain), (std::vector<float>{1, 2, 3}));
}

}  // namespace
}  // namespace muster
