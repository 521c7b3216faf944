#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/proto/graph_def.pb.h"
#include "muster/graph.h"

namespace muster {

// Writes one node of a graph as a NodeDef: the caller names the operation, gives inputs in TensorFlow's order and
// attributes by TensorFlow's names. Lives while that node is written.
class GraphDefWriter {
 public:
  GraphDefWriter(const Graph& graph, const Node& node, graphdef::GraphDef* def);

  const Node& node() const { return node_; }
  int64_t graph_seed() const { return graph_.seed(); }
  const TensorDesc& input_desc(int i) const { return graph_.desc(node_.inputs[static_cast<size_t>(i)]); }
  DType input_type(int i) const { return input_desc(i).dtype; }
  template <typename A>
  const A& attr() const {
    return node_.attrs.get<A>();
  }

  void Op(std::string_view name) { out_.set_op(std::string(name)); }

  // Inputs: the node's own, one or all of them; or a constant, which becomes a node "<name>/<suffix>" before this one.
  void Input(int i);
  void AllInputs();
  void ConstInput(std::string_view suffix, const std::vector<int64_t>& values);  // int32 [n], or int64 where needed
  void ScalarInput(std::string_view suffix, int64_t value);                      // int32 []
  void ScalarInput(std::string_view suffix, double value, DType dtype);
  void MatrixInput(std::string_view suffix, const std::vector<std::pair<int64_t, int64_t>>& rows);  // int32 [n,2]

  void Type(const char* name, DType dtype);
  void IndexType(const char* name);  // int32
  void Int(const char* name, int64_t value);
  void Float(const char* name, double value);
  void Bool(const char* name, bool value);
  void String(const char* name, std::string_view value);
  void Ints(const char* name, const std::vector<int64_t>& values);
  void Strings(const char* name, const std::vector<std::string>& values);
  void ShapeAttr(const char* name, const Shape& shape);
  void TensorAttr(const char* name, const Tensor& tensor);

  // Adds what every node has (control inputs, device, colocation, output shapes) and appends the node. "num_outputs" is
  // how many outputs TensorFlow's operation has, if that is more than here.
  void Finish(size_t num_outputs = 0);

 private:
  std::string ConstName(std::string_view suffix) const;
  void AddConst(std::string_view suffix, const Tensor& value);

  const Graph& graph_;
  const Node& node_;
  graphdef::GraphDef* def_;
  graphdef::NodeDef out_;
};

// The families of operations whose form differs between Muster and TensorFlow. Each writes the node's operation, inputs
// and attributes and returns true, or returns false if the node is not of its family.
bool WriteStateOp(GraphDefWriter& w);
bool WriteArrayOp(GraphDefWriter& w);
bool WriteMathOp(GraphDefWriter& w);
bool WriteImageOp(GraphDefWriter& w);
bool WriteCompilerOp(GraphDefWriter& w);

// Sets a shape message; a tensor message.
void SetShape(const Shape& shape, graphdef::TensorShapeProto* out);
void SetTensor(const Tensor& tensor, graphdef::TensorProto* out);

}  // namespace muster
