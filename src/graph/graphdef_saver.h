#pragma once

#include <string>
#include <utility>
#include <vector>

#include "muster/graph.h"

namespace muster {

// What TensorFlow's programs use on a graph but Muster's graphs have no operations for: operations that save and
// restore variables, and those that read them.
struct GraphDefSaver {
  std::string nodes;  // a GraphDef, to be appended to the graph's own: its bytes behind the others' are one message
  std::string filename, save,
      restore;  // tf.train.Saver's: the tensor that is fed with a checkpoint's path, what is run to save, to restore
  std::vector<std::string> reads;  // of Graph::variables(): the tensor with the value
};

// "saved": variables and their names in checkpoints; of several with one name the first is saved, all are restored.
// Names and form are those of TensorFlow's Saver, with another number at "save" if the graph has that scope.
GraphDefSaver MakeGraphDefSaver(const Graph& graph, const std::vector<std::pair<Output, std::string>>& saved);

}  // namespace muster
