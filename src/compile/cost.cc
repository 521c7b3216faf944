#include "compile/cost.h"

#include "graph/flops.h"

namespace muster {
namespace {

// What a CPU core pair and its memory do; only the ratio matters, and GPUs have about the same.
constexpr double kFlopsPerSecond = 2e11, kBytesPerSecond = 2e10;

}  // namespace

double EstimatedFlops(const CompileGraph& graph, const Node& node) {
  std::vector<Shape> inputs;
  for (Output in : node.inputs) inputs.push_back(graph.desc(in).shape);
  const int64_t multiply_adds = MultiplyAdds(node, inputs);
  if (multiply_adds > 0) return static_cast<double>(2 * multiply_adds);
  return node.outputs.empty() ? 0 : static_cast<double>(node.outputs[0].shape.num_elements());
}

double EstimatedSeconds(const CompileGraph& graph, const Node& node) {
  double bytes = 0;
  for (Output in : node.inputs) bytes += static_cast<double>(graph.desc(in).byte_size());
  for (const TensorDesc& out : node.outputs) bytes += static_cast<double>(out.byte_size());
  return EstimatedFlops(graph, node) / kFlopsPerSecond + bytes / kBytesPerSecond;
}

}  // namespace muster
