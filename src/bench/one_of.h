#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>

namespace muster::bench {

inline bool IsOneOf(const std::string& name, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace muster::bench
