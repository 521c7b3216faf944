// GraphDef form of operations that only Muster's compiler makes. TensorFlow has fused operations of its own, but
// others: these are for looking at, so that each attribute is written under its name.
#include "graph/attr_fields.h"
#include "graph/graphdef_writer.h"

namespace muster {
namespace {

struct WriteField {
  GraphDefWriter& w;
  const char* name;

  void operator()(bool value) const { w.Bool(name, value); }
  void operator()(int64_t value) const { w.Int(name, value); }
  void operator()(double value) const { w.Float(name, value); }
  void operator()(const std::string& value) const { w.String(name, value); }
  void operator()(DType value) const { w.Type(name, value); }
  void operator()(const Shape& value) const { w.ShapeAttr(name, value); }
  void operator()(const std::vector<int64_t>& value) const { w.Ints(name, value); }
  void operator()(const Tensor& value) const { w.TensorAttr(name, value); }
  void operator()(const TensorDesc& value) const { w.String(name, value.ToString()); }
};

}  // namespace

bool WriteCompilerOp(GraphDefWriter& w) {
  const std::string name(OpName(w.node().kind));
  w.Op(name.front() == '_' ? name : "_" + name);  // as TensorFlow marks what is nobody's business but its own
  w.AllInputs();
  if (!w.node().inputs.empty()) w.Type("T", w.input_type(0));
  for (const AttrField& field : AttrFields(w.node().attrs))
    if (!field.is_default) std::visit(WriteField{w, field.name}, field.value);
  return true;
}

}  // namespace muster
