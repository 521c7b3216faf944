#include "data/format/meta_graph.h"

#include "base/proto_bytes.h"
#include "data/format/proto/checkpoint.pb.h"

namespace muster::data {
namespace {

std::string VariableBytes(const MetaVariable& variable) {
  checkpoint::VariableDef message;
  message.set_variable_name(variable.variable);
  message.set_initializer_name(variable.initializer);
  message.set_initial_value_name(variable.initial_value);
  message.set_snapshot_name(variable.read);
  message.set_trainable(variable.is_trainable);
  return message.SerializeAsString();
}

void AddVariable(const MetaVariable& variable, checkpoint::MetaGraphDef* out) {
  const std::string bytes = VariableBytes(variable);
  const auto add_to = [&](const char* collection) {
    (*out->mutable_collection_def())[collection].mutable_bytes_list()->add_value(bytes);
  };
  add_to(variable.is_saved ? "variables" : "local_variables");  // tf.global_variables(), tf.local_variables()
  if (variable.is_trainable) add_to("trainable_variables");
}

void SetSaver(const MetaGraph& graph, checkpoint::SaverDef* out) {
  out->set_filename_tensor_name(graph.filename);
  out->set_save_tensor_name(graph.save);
  out->set_restore_op_name(graph.restore);
  out->set_max_to_keep(graph.max_to_keep);
  out->set_keep_checkpoint_every_n_hours(10000);  // TensorFlow's "never"; 0 would keep each
  out->set_version(checkpoint::SaverDef::V2);
}

}  // namespace

std::string MetaGraphBytes(const MetaGraph& graph) {
  checkpoint::MetaGraphDef message;
  message.mutable_meta_info_def()->set_tensorflow_version("1.15.0");  // whose GraphDef Muster writes
  message.set_graph_def(graph.graph_def);
  SetSaver(graph, message.mutable_saver_def());
  for (const MetaVariable& variable : graph.variables) AddVariable(variable, &message);
  return ProtoBytes(message);
}

}  // namespace muster::data
