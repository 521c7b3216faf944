#pragma once

#include <string>

namespace muster {

// A node that soft placement put elsewhere than it asked: the type and index of its device were given up, never its job
// or task. Plain data.
struct SoftPlacement {
  std::string node;
  std::string op;         // "MatMul"
  std::string requested;  // as the graph's scopes said: "/device:GPU:3"
  std::string got;        // "/job:localhost/replica:0/task:0/device:CPU:0"
  std::string reason;     // "no such device"

  // "b: (MatMul): asked for /device:GPU:3, got /job:localhost/replica:0/task:0/device:CPU:0: no such device".
  std::string ToString() const {
    return node + ": (" + op + "): asked for " + requested + ", got " + got + ": " + reason;
  }
  friend bool operator==(const SoftPlacement&, const SoftPlacement&) = default;
};

}  // namespace muster
