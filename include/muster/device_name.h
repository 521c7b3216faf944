#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster {

// A device, or a partial specification of one, in TensorFlow's grammar: any of /job:NAME /replica:N /task:N
// /device:TYPE:N, each optional, "*" meaning unset; /cpu:N and /gpu:N are the legacy short forms. A value.
struct DeviceName {
  std::optional<std::string> job;
  std::optional<int> replica;
  std::optional<int> task;
  std::optional<std::string> type;  // upper case: "CPU", "GPU"
  std::optional<int> index;

  // Throws InvalidArgument naming the part that is wrong and the grammar.
  static DeviceName Parse(std::string_view text);

  bool is_empty() const { return !job && !replica && !task && !type && !index; }
  // All five parts are set.
  bool is_full() const { return job && replica && task && type && index; }
  // This specification, with the parts it leaves unset filled from "outer" (scopes merge innermost first).
  DeviceName MergedInto(const DeviceName& outer) const;
  // Whether "full" agrees with every part set here.
  bool Matches(const DeviceName& full) const;
  // "/job:worker/replica:0/task:1/device:GPU:0"; unset parts are left out.
  std::string ToString() const;

  friend bool operator==(const DeviceName&, const DeviceName&) = default;
};

}  // namespace muster
