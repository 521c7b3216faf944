#include <google/protobuf/text_format.h>

#include <limits>

#include "base/check.h"
#include "base/proto_bytes.h"
#include "graph/graphdef_writer.h"
#include "muster/error.h"
#include "muster/graph_export.h"

namespace muster {
namespace {

// TensorFlow 1.15's version of the format.
constexpr int kProducer = 134;

// TensorFlow's batch-norm gradients have two outputs more, which are empty.
size_t NumTensorFlowOutputs(OpKind kind) { return kind == OpKind::kFusedBatchNormGrad ? 5 : 0; }

graphdef::GraphDef ToProto(const Graph& graph) {
  graphdef::GraphDef def;
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    const Node& node = graph.node(id);
    GraphDefWriter w(graph, node, &def);
    // The last one takes everything.
    const bool written = WriteStateOp(w) || WriteArrayOp(w) || WriteMathOp(w) || WriteImageOp(w) || WriteCompilerOp(w);
    MUSTER_CHECK(written);
    w.Finish(NumTensorFlowOutputs(node.kind));
  }
  def.mutable_versions()->set_producer(kProducer);
  return def;
}

}  // namespace

std::string GraphToGraphDef(const Graph& graph) {
  const graphdef::GraphDef def = ToProto(graph);
  if (def.ByteSizeLong() > static_cast<size_t>(std::numeric_limits<int>::max()))
    throw OutOfRange("this graph's constants are too large for a GraphDef, which holds at most 2 GiB");
  return ProtoBytes(def);
}

std::string GraphToGraphDefText(const Graph& graph) {
  std::string text;
  MUSTER_CHECK(google::protobuf::TextFormat::PrintToString(ToProto(graph), &text));
  return text;
}

}  // namespace muster
