#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "muster/graph.h"
#include "muster/scope.h"
#include "muster/session.h"

namespace muster::testing {

// One case of ops/index.json as it is written there. "error" is set instead when the file cannot be used.
struct OpCase {
  std::string op, name;
  nlohmann::json attrs, inputs, outputs;
  std::string error;
};

// How GoogleTest prints a case.
void PrintTo(const OpCase& op_case, std::ostream* out);

// All cases that this test is to run: those of image operations are left out.
std::vector<OpCase> LoadOpCases();

// How a case is run.
struct Variant {
  std::string backend;  // "reference" or "cpu"
  DType dtype;          // what floating-point inputs are converted to
  DataFormat format;    // for operations that have one
  std::string ToString() const;
};

// Turns a case into a graph with feeds and named outputs. Images are fed in the variant's format and compared in the
// case's, so that one case tests both.
class CaseGraph {
 public:
  CaseGraph(const OpCase& op_case, const Variant& variant);

  const Scope& scope() const { return scope_; }
  const nlohmann::json& attrs() const { return case_.attrs; }
  DataFormat format() const { return variant_.format; }
  DType dtype() const { return variant_.dtype; }

  // The input as a placeholder. An image is put into the variant's format; a filter always into HWIO.
  Output Input(const std::string& name);
  Output Image(const std::string& name);
  Output Filter(const std::string& name);
  // All inputs called prefix0, prefix1, …
  std::vector<Output> Inputs(const std::string& prefix);

  // Says which output of the case a tensor is. "y" is also what is differentiated.
  void Result(const std::string& name, Output value);
  void ImageResult(const std::string& name, Output value);

  // Adds the gradients that the case lists: output "dx" for input "x". Without an input "dy" the loss is y itself.
  void AddGradients();

  // Runs the graph; the values by the case's output names, in the case's own layout.
  std::map<std::string, Tensor> Run();

 private:
  enum class Form { kPlain, kImage, kFilter };
  struct Fed {
    Output placeholder;
    Tensor value;
    Form form;
  };
  struct Named {
    Output value;
    Form form;
  };

  Output Feed(const std::string& name, Form form);
  // The axes of an array as the case writes it in terms of what the graph uses, and back; empty if they agree.
  std::vector<int> ToGraph(Form form) const;
  std::vector<int> ToCase(Form form) const;

  const OpCase& case_;
  Variant variant_;
  Graph graph_;
  Scope scope_;
  std::map<std::string, Fed> inputs_;
  std::map<std::string, Named> results_;
};

// The elements as doubles, whatever their type.
std::vector<double> ToDoubles(const Tensor& tensor);

}  // namespace muster::testing
