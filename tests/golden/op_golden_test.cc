// Every operation against TensorFlow: ops/index.json of the golden folder.

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "muster/error.h"
#include "tests/golden/op_builders.h"
#include "tests/golden/op_case.h"
#include "tests/testing/golden.h"

namespace muster::testing {
namespace {

// The 16-bit patterns of half-precision results stand in the file as integers.
std::vector<double> Bits(const Tensor& tensor) {
  const auto* bits = static_cast<const uint16_t*>(tensor.raw());
  return {bits, bits + tensor.shape().num_elements()};
}

// "max_abs" of the file, which leaves it out for some outputs.
double LargestMagnitude(const std::vector<double>& values) {
  double largest = 0;
  for (double v : values)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  return largest;
}

bool Agrees(double got, double expected, double limit) {
  if (std::isnan(expected)) return std::isnan(got);
  return got == expected || std::abs(got - expected) <= limit;  // the first also for infinities
}

void ExpectAgrees(const std::string& name, const Tensor& got, const nlohmann::json& output, double tolerance) {
  const Tensor expected = GoldenTensor("ops/" + output.at("file").get<std::string>());
  ASSERT_EQ(got.shape().ToString(), expected.shape().ToString()) << name;
  const std::vector<double> a = name.ends_with("_bits") ? Bits(got) : ToDoubles(got), b = ToDoubles(expected);
  const double limit = tolerance * std::max(1.0, LargestMagnitude(b));
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_TRUE(Agrees(a[i], b[i], limit))
        << fmt::format("{}[{}] is {}, TensorFlow has {}, may differ by {}", name, i, a[i], b[i], limit);
}

void Check(const OpCase& op_case, const OpBuilder& builder, const Variant& variant) {
  CaseGraph graph(op_case, variant);
  builder.build(graph);
  graph.AddGradients();
  const std::map<std::string, Tensor> got = graph.Run();
  for (const auto& [name, output] : op_case.outputs.items()) {
    auto it = got.find(name);
    if (it == got.end()) {
      ADD_FAILURE() << "the table builds no output " << name;
      continue;
    }
    const bool is_gradient = name.starts_with("d") && builder.gradient_tolerance >= 0;
    ExpectAgrees(name, it->second, output, is_gradient ? builder.gradient_tolerance : builder.tolerance);
  }
}

std::vector<Variant> Variants(bool has_format) {
  std::vector<Variant> variants;
  for (DataFormat format : {DataFormat::kNHWC, DataFormat::kNCHW}) {
    if (format == DataFormat::kNCHW && !has_format) continue;
    variants.push_back({"reference", DType::kFloat32, format});
    variants.push_back({"reference", DType::kFloat64, format});
    variants.push_back({"cpu", DType::kFloat32, format});
  }
  return variants;
}

class GoldenOps : public ::testing::TestWithParam<OpCase> {};

TEST_P(GoldenOps, AgreesWithTensorFlow) {
  const OpCase& op_case = GetParam();
  ASSERT_EQ(op_case.error, "");
  const OpBuilder* builder = FindOpBuilder(op_case.op);
  ASSERT_NE(builder, nullptr) << "Muster has no operation " << op_case.op;
  for (const Variant& variant : Variants(builder->has_format)) {
    SCOPED_TRACE(variant.ToString());
    try {
      Check(op_case, *builder, variant);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

std::string CaseName(const ::testing::TestParamInfo<OpCase>& info) {
  std::string name = info.param.op + "_" + info.param.name;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(, GoldenOps, ::testing::ValuesIn(LoadOpCases()), CaseName);

}  // namespace
}  // namespace muster::testing
