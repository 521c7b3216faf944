#include "tests/golden/op_case.h"

#include <cstring>
#include <ostream>
#include <set>

#include <fmt/format.h>

#include "muster/error.h"
#include "muster/gradients.h"
#include "muster/ops/state.h"
#include "tests/testing/golden.h"

namespace muster::testing {
namespace {

// These come with the issue on input data.
const std::set<std::string> kImageOperations = {"resize", "colour", "eval_preprocess"};

template <typename T>
std::vector<double> Widen(const Tensor& tensor) {
  std::vector<double> values;
  for (T v : tensor.data<T>()) {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) values.push_back(ToFloat(v));
    else values.push_back(static_cast<double>(v));
  }
  return values;
}

Tensor ConvertFloats(const Tensor& tensor, DType to) {
  if (tensor.dtype() != DType::kFloat32 || to == DType::kFloat32) return tensor;
  const auto from = tensor.data<float>();
  const std::vector<double> values(from.begin(), from.end());
  return Tensor::Of<double>(tensor.shape(), values);
}

// Output axis i is input axis perm[i]; an empty perm changes nothing.
Tensor Permuted(const Tensor& x, const std::vector<int>& perm) {
  if (perm.empty()) return x;
  std::vector<int64_t> dims;
  for (int axis : perm) dims.push_back(x.shape()[axis]);
  Tensor y(x.dtype(), Shape(dims));
  const size_t size = SizeOf(x.dtype());
  for (int64_t i = 0; i < y.shape().num_elements(); ++i) {
    std::vector<int64_t> index(perm.size());  // of x
    int64_t rest = i;
    for (int axis = static_cast<int>(perm.size()) - 1; axis >= 0; --axis) {
      index[static_cast<size_t>(perm[static_cast<size_t>(axis)])] = rest % y.shape()[axis];
      rest /= y.shape()[axis];
    }
    int64_t from = 0;
    for (size_t axis = 0; axis < index.size(); ++axis) from = from * x.shape()[static_cast<int>(axis)] + index[axis];
    std::memcpy(static_cast<char*>(y.raw()) + static_cast<size_t>(i) * size,
                static_cast<const char*>(x.raw()) + static_cast<size_t>(from) * size, size);
  }
  return y;
}

// Where each letter of "to" stands in "from": the permutation between two layouts such as "NHWC" and "NCHW".
std::vector<int> Between(const std::string& from, const std::string& to) {
  if (from == to) return {};
  std::vector<int> perm;
  for (char axis : to) perm.push_back(static_cast<int>(from.find(axis)));
  return perm;
}

}  // namespace

void PrintTo(const OpCase& op_case, std::ostream* out) { *out << op_case.op << "/" << op_case.name; }

std::vector<OpCase> LoadOpCases() {
  std::vector<OpCase> cases;
  try {
    const nlohmann::json index = GoldenJson("ops/index.json");
    for (const nlohmann::json& c : index.at("cases"))
      if (kImageOperations.count(c.at("op")) == 0)
        cases.push_back({c.at("op"), c.at("case"), c.at("attrs"), c.at("inputs"), c.at("outputs"), ""});
  } catch (const std::exception& error) {
    cases = {OpCase{.op = "index", .name = "unreadable", .error = error.what()}};
  }
  return cases;
}

std::string Variant::ToString() const {
  return fmt::format("{} {} {}", backend, DTypeName(dtype), format == DataFormat::kNHWC ? "NHWC" : "NCHW");
}

CaseGraph::CaseGraph(const OpCase& op_case, const Variant& variant)
    : case_(op_case), variant_(variant), scope_(&graph_) {}

std::vector<int> CaseGraph::ToGraph(Form form) const {
  const nlohmann::json& a = case_.attrs;
  if (form == Form::kImage)
    return Between(a.value("x_layout", a.value("layout", "NHWC")),
                   variant_.format == DataFormat::kNHWC ? "NHWC" : "NCHW");
  if (form == Form::kFilter && a.value("w_layout", "") == "OIHW") return Between("OIHW", "HWIO");
  return {};
}

std::vector<int> CaseGraph::ToCase(Form form) const {
  const std::vector<int> perm = ToGraph(form);
  std::vector<int> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int>(i);
  return inverse;
}

Output CaseGraph::Feed(const std::string& name, Form form) {
  auto it = inputs_.find(name);
  if (it != inputs_.end()) return it->second.placeholder;
  const std::string file = case_.inputs.at(name).at("file");
  const Tensor value = Permuted(ConvertFloats(GoldenTensor("ops/" + file), variant_.dtype), ToGraph(form));
  const Output placeholder = ops::Placeholder(scope_.Named(name), value.dtype(), value.shape());
  inputs_[name] = {placeholder, value, form};
  return placeholder;
}

Output CaseGraph::Input(const std::string& name) { return Feed(name, Form::kPlain); }
Output CaseGraph::Image(const std::string& name) { return Feed(name, Form::kImage); }
Output CaseGraph::Filter(const std::string& name) { return Feed(name, Form::kFilter); }

std::vector<Output> CaseGraph::Inputs(const std::string& prefix) {
  std::vector<Output> all;
  for (int i = 0; case_.inputs.contains(prefix + std::to_string(i)); ++i)
    all.push_back(Input(prefix + std::to_string(i)));
  return all;
}

void CaseGraph::Result(const std::string& name, Output value) { results_[name] = {value, Form::kPlain}; }
void CaseGraph::ImageResult(const std::string& name, Output value) { results_[name] = {value, Form::kImage}; }

void CaseGraph::AddGradients() {
  std::vector<std::string> names;
  std::vector<Output> xs;
  for (const auto& [name, input] : inputs_)
    if (case_.outputs.contains("d" + name)) {
      names.push_back(name);
      xs.push_back(input.placeholder);
    }
  if (xs.empty()) return;
  const Named y = results_.at("y");
  const Output dy = case_.inputs.contains("dy") ? Feed("dy", y.form) : Output{};
  const std::vector<Output> gradients = Gradients(scope_, y.value, xs, dy);
  for (size_t i = 0; i < xs.size(); ++i)
    if (gradients[i].is_valid()) results_["d" + names[i]] = {gradients[i], inputs_.at(names[i]).form};
}

std::map<std::string, Tensor> CaseGraph::Run() {
  Feeds feeds;
  for (const auto& [name, input] : inputs_) feeds.emplace_back(input.placeholder, input.value);
  std::vector<Output> fetches;
  for (const auto& [name, result] : results_) fetches.push_back(result.value);
  Session session(&graph_, {.intra_op_threads = 2, .backend = variant_.backend});
  const std::vector<Tensor> values = session.Run(feeds, fetches);
  std::map<std::string, Tensor> named;
  size_t i = 0;
  for (const auto& [name, result] : results_) named[name] = Permuted(values[i++], ToCase(result.form));
  return named;
}

std::vector<double> ToDoubles(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kFloat32: return Widen<float>(tensor);
    case DType::kFloat64: return Widen<double>(tensor);
    case DType::kFloat16: return Widen<Float16>(tensor);
    case DType::kBFloat16: return Widen<BFloat16>(tensor);
    case DType::kInt32: return Widen<int32_t>(tensor);
    case DType::kInt64: return Widen<int64_t>(tensor);
    case DType::kUInt8: return Widen<uint8_t>(tensor);
    case DType::kBool: return Widen<bool>(tensor);
  }
  throw Internal("unknown dtype");
}

}  // namespace muster::testing
