#include "train/non_finite.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "train/nan_sign.h"

namespace muster::train {
namespace {

// Values fetched in one run: what they take together stays small beside the model.
constexpr size_t kFetchesPerRun = 32;

template <typename T>
std::optional<double> FirstOf(const Tensor& tensor) {
  for (const T value : tensor.data<T>())
    if (!std::isfinite(static_cast<double>(value))) return static_cast<double>(value);
  return std::nullopt;
}

std::optional<double> NonFiniteElement(const Tensor& tensor) {
  if (tensor.dtype() == DType::kFloat32) return FirstOf<float>(tensor);
  if (tensor.dtype() == DType::kFloat64) return FirstOf<double>(tensor);
  return std::nullopt;
}

bool IsChecked(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64; }

// What the loss depends on, in the graph's order, which is topological.
std::vector<NodeId> AncestorsOf(const Graph& graph, NodeId loss) {
  std::set<NodeId> found{loss};
  for (NodeId id = loss; id >= 0; --id) {
    if (!found.contains(id)) continue;
    for (const Output& input : graph.node(id).inputs) found.insert(input.node);
  }
  return {found.begin(), found.end()};
}

// "device" is named if there are several.
std::string Describe(const Node& node, const std::string& device, double value) {
  value = WithoutNanSign(value);
  const std::string where = device.empty() ? "" : " on " + device;
  if (node.kind == OpKind::kVariable) return fmt::format("the variable {}{} holds {}", node.name, where, value);
  return fmt::format("the output of {} ({}){} holds {}", node.name, OpName(node.kind), where, value);
}

// "/device:GPU:1" for each node; nothing where all are on one device.
std::vector<std::string> DevicesOf(const Session& session, const std::vector<Output>& outputs) {
  const Graph placed = session.PlacedGraph();
  std::vector<std::string> devices;
  for (const Output& output : outputs) {
    const std::string device = placed.node(output.node).device.ToString();
    const size_t at = device.find("/device:");
    devices.push_back(at == std::string::npos ? device : device.substr(at));
  }
  const bool is_one = std::adjacent_find(devices.begin(), devices.end(), std::not_equal_to<>()) == devices.end();
  return is_one ? std::vector<std::string>(devices.size()) : devices;
}

}  // namespace

std::optional<std::string> FirstNonFinite(Session& session, const Graph& graph, Output loss, const Feeds& feeds) {
  std::vector<Output> outputs;
  for (const NodeId id : AncestorsOf(graph, loss.node))
    if (const Node& node = graph.node(id); !node.outputs.empty() && IsChecked(node.outputs[0].dtype))
      outputs.push_back({id, 0});
  const std::vector<std::string> devices = DevicesOf(session, outputs);
  const int64_t step = session.step();
  for (size_t begin = 0; begin < outputs.size(); begin += kFetchesPerRun) {
    const std::vector<Output> part(
        outputs.begin() + static_cast<std::ptrdiff_t>(begin),
        outputs.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kFetchesPerRun, outputs.size())));
    session.set_step(step);  // the same random numbers for every part
    const std::vector<Tensor> values = session.Run(feeds, part);
    for (size_t i = 0; i < part.size(); ++i)
      if (const std::optional<double> value = NonFiniteElement(values[i]))
        return Describe(graph.node(part[i].node), devices[begin + i], *value);
  }
  return std::nullopt;
}

}  // namespace muster::train
