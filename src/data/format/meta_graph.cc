#include "data/format/meta_graph.h"

#include "data/format/proto/checkpoint.pb.h"

namespace muster::data {

std::string MetaGraphBytes(const std::string& graph_def) {
  checkpoint::MetaGraphDef message;
  message.mutable_meta_info_def()->set_tensorflow_version("1.15.0");  // whose GraphDef Muster writes
  message.set_graph_def(graph_def);
  return message.SerializeAsString();
}

}  // namespace muster::data
