#pragma once

#include <string>
#include <vector>

namespace muster::data {

// A variable of a graph, by names of TensorFlow's: of tensors ("x:0"), and of the operation that gives it its first
// value.
struct MetaVariable {
  std::string variable, initializer, initial_value, read;
  bool is_trainable = true;
  bool is_saved = true;  // otherwise "local": no checkpoint has it
};

// What a checkpoint's ".meta" file tells TensorFlow's programs: the graph, its variables, how to save and restore them.
struct MetaGraph {
  std::string graph_def;  // with the operations that are named here
  std::vector<MetaVariable> variables;
  std::string filename, save, restore;  // of tf.train.Saver: two tensors and an operation
  int max_to_keep = 5;
};

// TensorFlow's MetaGraphDef, from which tf.train.import_meta_graph makes graph, collections of variables and a Saver.
std::string MetaGraphBytes(const MetaGraph& graph);

}  // namespace muster::data
