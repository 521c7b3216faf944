#include "graph/graphdef_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "graph/conditional.h"

namespace muster {
namespace {

graphdef::DataType ToProto(DType dtype) { return static_cast<graphdef::DataType>(TensorFlowDataType(dtype)); }

Tensor ScalarOf(double value, DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return Tensor::Scalar(static_cast<float>(value));
    case DType::kFloat64: return Tensor::Scalar(value);
    case DType::kFloat16: return Tensor::Scalar(ToFloat16(static_cast<float>(value)));
    case DType::kBFloat16: return Tensor::Scalar(ToBFloat16(static_cast<float>(value)));
    case DType::kInt32: return Tensor::Scalar(static_cast<int32_t>(value));
    case DType::kInt64: return Tensor::Scalar(static_cast<int64_t>(value));
    case DType::kUInt8: return Tensor::Scalar(static_cast<uint8_t>(value));
    case DType::kBool: return Tensor::Scalar(value != 0);
  }
  return {};
}

// int32 as TensorFlow's programs use; int64 where a number does not fit.
Tensor IndexTensor(const Shape& shape, const std::vector<int64_t>& values) {
  const bool fits = std::all_of(values.begin(), values.end(), [](int64_t value) {
    return value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
  });
  if (!fits) return Tensor::Of<int64_t>(shape, std::span(values));
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return Tensor::Of<int32_t>(shape, std::span(narrow));
}

}  // namespace

void SetShape(const Shape& shape, graphdef::TensorShapeProto* out) {
  for (const int64_t size : shape.dims()) out->add_dim()->set_size(size);
}

void SetTensor(const Tensor& tensor, graphdef::TensorProto* out) {
  out->set_dtype(ToProto(tensor.dtype()));
  SetShape(tensor.shape(), out->mutable_tensor_shape());
  // Scalars in the field of their type, so that people can read the text form.
  const bool is_scalar = tensor.shape().rank() == 0;
  if (is_scalar && tensor.dtype() == DType::kFloat32) {
    out->add_float_val(tensor.scalar<float>());
  } else if (is_scalar && tensor.dtype() == DType::kFloat64) {
    out->add_double_val(tensor.scalar<double>());
  } else if (is_scalar && tensor.dtype() == DType::kInt32) {
    out->add_int_val(tensor.scalar<int32_t>());
  } else if (is_scalar && tensor.dtype() == DType::kInt64) {
    out->add_int64_val(tensor.scalar<int64_t>());
  } else if (is_scalar && tensor.dtype() == DType::kBool) {
    out->add_bool_val(tensor.scalar<bool>());
  } else {
    out->set_tensor_content(tensor.raw(), tensor.byte_size());
  }
}

GraphDefWriter::GraphDefWriter(const Graph& graph, const Node& node, graphdef::GraphDef* def)
    : graph_(graph), node_(node), def_(def) {
  out_.set_name(node.name);
}

void GraphDefWriter::Input(int i) {
  const Output input = node_.inputs[static_cast<size_t>(i)];
  const std::string& name = graph_.node(input.node).name;
  out_.add_input(input.index == 0 ? name : fmt::format("{}:{}", name, input.index));
}

// TensorFlow's updates know no condition: it becomes a control input.
void GraphDefWriter::AllInputs() {
  const size_t count = node_.inputs.size() - (IsConditional(graph_, node_) ? 1 : 0);
  for (size_t i = 0; i < count; ++i) Input(static_cast<int>(i));
}

std::string GraphDefWriter::ConstName(std::string_view suffix) const {
  std::string name = fmt::format("{}/{}", node_.name, suffix);
  while (graph_.Find(name) != kNoNode) name += "_";
  return name;
}

void GraphDefWriter::AddConst(std::string_view suffix, const Tensor& value) {
  graphdef::NodeDef* constant = def_->add_node();
  constant->set_name(ConstName(suffix));
  constant->set_op("Const");
  constant->set_device(node_.device.ToString());
  auto& attrs = *constant->mutable_attr();
  attrs["dtype"].set_type(ToProto(value.dtype()));
  SetTensor(value, attrs["value"].mutable_tensor());
  SetShape(value.shape(), attrs["_output_shapes"].mutable_list()->add_shape());
  out_.add_input(constant->name());
}

void GraphDefWriter::ConstInput(std::string_view suffix, const std::vector<int64_t>& values) {
  AddConst(suffix, IndexTensor(Shape{static_cast<int64_t>(values.size())}, values));
}

void GraphDefWriter::ScalarInput(std::string_view suffix, int64_t value) {
  AddConst(suffix, IndexTensor(Shape{}, {value}));
}

void GraphDefWriter::ScalarInput(std::string_view suffix, double value, DType dtype) {
  AddConst(suffix, ScalarOf(value, dtype));
}

void GraphDefWriter::MatrixInput(std::string_view suffix, const std::vector<std::pair<int64_t, int64_t>>& rows) {
  std::vector<int64_t> flat;
  for (const auto& [first, second] : rows) flat.insert(flat.end(), {first, second});
  AddConst(suffix, IndexTensor(Shape{static_cast<int64_t>(rows.size()), 2}, flat));
}

void GraphDefWriter::Type(const char* name, DType dtype) { (*out_.mutable_attr())[name].set_type(ToProto(dtype)); }
void GraphDefWriter::IndexType(const char* name) { Type(name, DType::kInt32); }
void GraphDefWriter::Int(const char* name, int64_t value) { (*out_.mutable_attr())[name].set_i(value); }
void GraphDefWriter::Float(const char* name, double value) {
  (*out_.mutable_attr())[name].set_f(static_cast<float>(value));
}
void GraphDefWriter::Bool(const char* name, bool value) { (*out_.mutable_attr())[name].set_b(value); }

void GraphDefWriter::String(const char* name, std::string_view value) {
  (*out_.mutable_attr())[name].set_s(std::string(value));
}

void GraphDefWriter::Ints(const char* name, const std::vector<int64_t>& values) {
  auto* list = (*out_.mutable_attr())[name].mutable_list();
  for (const int64_t value : values) list->add_i(value);
}

void GraphDefWriter::Strings(const char* name, const std::vector<std::string>& values) {
  auto* list = (*out_.mutable_attr())[name].mutable_list();
  for (const std::string& value : values) list->add_s(value);
}

void GraphDefWriter::ShapeAttr(const char* name, const Shape& shape) {
  SetShape(shape, (*out_.mutable_attr())[name].mutable_shape());
}

void GraphDefWriter::TensorAttr(const char* name, const Tensor& tensor) {
  SetTensor(tensor, (*out_.mutable_attr())[name].mutable_tensor());
}

void GraphDefWriter::Finish(size_t num_outputs) {
  if (IsConditional(graph_, node_)) out_.add_input("^" + graph_.node(node_.inputs.back().node).name);
  for (const NodeId control : node_.control_inputs) out_.add_input("^" + graph_.node(control).name);
  out_.set_device(node_.device.ToString());
  if (!node_.colocate_with.empty()) {
    std::vector<std::string> classes;
    for (const std::string& name : node_.colocate_with) classes.push_back("loc:@" + name);
    Strings("_class", classes);
  }
  if (!node_.outputs.empty()) {
    auto* shapes = (*out_.mutable_attr())["_output_shapes"].mutable_list();
    for (const TensorDesc& desc : node_.outputs) SetShape(desc.shape, shapes->add_shape());
    for (size_t i = node_.outputs.size(); i < num_outputs; ++i) shapes->add_shape()->set_unknown_rank(true);
  }
  *def_->add_node() = std::move(out_);
}

}  // namespace muster
