#include "graph/graphdef_saver.h"

#include <map>

#include <fmt/format.h>

#include "base/proto_bytes.h"
#include "graph/graphdef_writer.h"

namespace muster {
namespace {

graphdef::DataType TypeOf(const Graph& graph, Output variable) {
  return static_cast<graphdef::DataType>(TensorFlowDataType(graph.desc(variable).dtype));
}

bool HasScope(const Graph& graph, const std::string& scope) {
  for (NodeId id = 0; id < graph.num_nodes(); ++id)
    if (graph.node(id).name == scope || graph.node(id).name.starts_with(scope + "/")) return true;
  return false;
}

std::string FreeScope(const Graph& graph, const std::string& wanted) {
  std::string scope = wanted;
  for (int number = 1; HasScope(graph, scope); ++number) scope = fmt::format("{}_{}", wanted, number);
  return scope;
}

class SaverNodes {
 public:
  SaverNodes(const Graph& graph, const std::vector<std::pair<Output, std::string>>& saved)
      : graph_(graph), saved_(saved), scope_(FreeScope(graph, "save")), filename_(scope_ + "/Const") {
    for (const auto& [variable, name] : saved)
      if (index_.emplace(name, static_cast<int>(index_.size())).second) first_.push_back({variable, name});
  }

  GraphDefSaver Make() {
    GraphDefSaver saver;
    for (const VariableInfo& info : graph_.variables()) saver.reads.push_back(AddRead(info));
    AddFilename();
    saver.filename = filename_ + ":0";
    saver.save = AddSave() + ":0";
    saver.restore = AddRestore();
    saver.nodes = ProtoBytes(def_);
    return saver;
  }

 private:
  graphdef::NodeDef* Add(const std::string& name, const char* op, const std::vector<std::string>& inputs) {
    graphdef::NodeDef* node = def_.add_node();
    node->set_name(name);
    node->set_op(op);
    for (const std::string& input : inputs) node->add_input(input);
    return node;
  }

  const std::string& NameOf(Output variable) const { return graph_.node(variable.node).name; }

  // On the variable's device, as all that takes it as it is and not its value.
  void PlaceAt(Output variable, graphdef::NodeDef* node) const {
    node->set_device(graph_.node(variable.node).device.ToString());
    (*node->mutable_attr())["_class"].mutable_list()->add_s("loc:@" + NameOf(variable));
  }

  std::string AddRead(const VariableInfo& info) {
    std::string name = info.name + "/read";
    while (graph_.Find(name) != kNoNode) name += "_";
    graphdef::NodeDef* read = Add(name, "Identity", {NameOf(info.ref)});
    (*read->mutable_attr())["T"].set_type(TypeOf(graph_, info.ref));
    PlaceAt(info.ref, read);
    return name + ":0";
  }

  std::string AddStrings(const std::string& name, const std::vector<std::string>& values) {
    graphdef::NodeDef* node = Add(name, "Const", {});
    auto& attrs = *node->mutable_attr();
    attrs["dtype"].set_type(graphdef::DT_STRING);
    graphdef::TensorProto* tensor = attrs["value"].mutable_tensor();
    tensor->set_dtype(graphdef::DT_STRING);
    tensor->mutable_tensor_shape()->add_dim()->set_size(static_cast<int64_t>(values.size()));
    for (const std::string& value : values) tensor->add_string_val(value);
    return name;
  }

  // TensorFlow feeds it with the path; the default, which nobody uses, is that of its Saver.
  void AddFilename() {
    graphdef::NodeDef* value = Add(scope_ + "/filename", "Const", {});
    auto& attrs = *value->mutable_attr();
    attrs["dtype"].set_type(graphdef::DT_STRING);
    attrs["value"].mutable_tensor()->set_dtype(graphdef::DT_STRING);
    attrs["value"].mutable_tensor()->mutable_tensor_shape();
    attrs["value"].mutable_tensor()->add_string_val("model");
    graphdef::NodeDef* fed = Add(filename_, "PlaceholderWithDefault", {value->name()});
    (*fed->mutable_attr())["dtype"].set_type(graphdef::DT_STRING);
    (*fed->mutable_attr())["shape"].mutable_shape();
  }

  // The names of the tensors and that each is whole, then the types.
  graphdef::NodeDef* AddBundleOp(const std::string& op) {
    const std::string name = scope_ + "/" + op;
    std::vector<std::string> names;
    for (const auto& [variable, saved_name] : first_) names.push_back(saved_name);
    const std::string tensor_names = AddStrings(name + "/tensor_names", names);
    const std::string slices = AddStrings(name + "/shape_and_slices", std::vector<std::string>(names.size()));
    graphdef::NodeDef* node = Add(name, op.c_str(), {filename_, tensor_names, slices});
    auto* types = (*node->mutable_attr())["dtypes"].mutable_list();
    for (const auto& [variable, saved_name] : first_) types->add_type(TypeOf(graph_, variable));
    return node;
  }

  std::string AddSave() {
    graphdef::NodeDef* save = AddBundleOp("SaveV2");
    for (const auto& [variable, name] : first_) save->add_input(NameOf(variable));
    graphdef::NodeDef* done = Add(scope_ + "/control_dependency", "Identity", {filename_, "^" + save->name()});
    (*done->mutable_attr())["T"].set_type(graphdef::DT_STRING);
    return done->name();
  }

  std::string AddRestore() {
    const std::string restore = AddBundleOp("RestoreV2")->name();
    std::vector<std::string> assigned;
    for (const auto& [variable, name] : saved_) {
      const int index = index_.at(name);
      const std::string assign_name =
          scope_ + (assigned.empty() ? "/Assign" : fmt::format("/Assign_{}", assigned.size()));
      graphdef::NodeDef* assign =
          Add(assign_name, "Assign", {NameOf(variable), index == 0 ? restore : fmt::format("{}:{}", restore, index)});
      (*assign->mutable_attr())["T"].set_type(TypeOf(graph_, variable));
      (*assign->mutable_attr())["use_locking"].set_b(true);
      (*assign->mutable_attr())["validate_shape"].set_b(true);
      PlaceAt(variable, assign);
      assigned.push_back("^" + assign_name);
    }
    return Add(scope_ + "/restore_all", "NoOp", assigned)->name();
  }

  const Graph& graph_;
  const std::vector<std::pair<Output, std::string>>& saved_;
  const std::string scope_, filename_;
  std::vector<std::pair<Output, std::string>> first_;  // of each name in a checkpoint
  std::map<std::string, int> index_;                   // of a name in first_
  graphdef::GraphDef def_;
};

}  // namespace

GraphDefSaver MakeGraphDefSaver(const Graph& graph, const std::vector<std::pair<Output, std::string>>& saved) {
  return SaverNodes(graph, saved).Make();
}

}  // namespace muster
