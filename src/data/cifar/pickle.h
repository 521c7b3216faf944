#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace muster::data {

// A value in a Python pickle, as far as the files of CIFAR-10 need it: None, integers (and truth values), strings
// (bytes and text are not told apart), lists (and tuples), dictionaries with string keys, NumPy arrays of bytes.
struct PickleValue {
  struct Array {
    std::vector<int64_t> shape;
    std::string bytes;  // row-major
  };
  struct Global {
    std::string name;  // "module name" of something in Python
  };
  using List = std::vector<const PickleValue*>;
  using Dict = std::map<std::string, const PickleValue*>;
  std::variant<std::monostate, int64_t, std::string, List, Dict, Array, Global> value;

  // Null if it is something else.
  template <typename T>
  const T* As() const {
    return std::get_if<T>(&value);
  }
  // Null if this is no dictionary, or has no such key.
  const PickleValue* Find(const std::string& key) const;
};

// A pickle of protocol 2 to 5 that was read. Nothing in it is run: of Python's objects only NumPy arrays of bytes are
// known, everything else is refused, and so are bytes that protocol 5 keeps outside of the pickle. Values live as long
// as the object.
class Pickle {
 public:
  // Throws DataLoss naming the byte. Memory is bounded by the size of "bytes".
  explicit Pickle(std::string_view bytes);
  const PickleValue& root() const { return *root_; }

 private:
  std::deque<PickleValue> values_;  // pointers into it stay
  const PickleValue* root_ = nullptr;
};

}  // namespace muster::data
