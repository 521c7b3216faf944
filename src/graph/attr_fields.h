#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "muster/attrs.h"

namespace muster {

// One attribute of a node in a form that printing and hashing need not know the struct of.
struct AttrField {
  using Value =
      std::variant<bool, int64_t, double, std::string, DType, Shape, std::vector<int64_t>, Tensor, TensorDesc>;
  const char* name;
  Value value;
  // It has the value that an operation without it has: not worth printing.
  bool is_default = false;
};

// All fields of a node's attributes in the order of declaration, named as TensorFlow names them where it has them.
std::vector<AttrField> AttrFields(const Attrs& attrs);

// "SAME", "REFLECT", "Relu", as TensorFlow spells them.
std::string PaddingName(Padding padding);
std::string PadModeName(PadMode mode);
std::string ActivationName(Activation activation);

}  // namespace muster
