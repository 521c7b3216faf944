#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster {

// A device, or a partial specification of one, in TensorFlow's grammar: any of /job:NAME /replica:N /task:N
// /device:TYPE:N, each optional and at most once, in any order, "*" meaning unset. /cpu:N and /gpu:N are the legacy
// short forms: upper or lower case, with or without the index. As in TensorFlow's Python the first slash may be
// missing. A value.
struct DeviceName {
  std::optional<std::string> job;
  std::optional<int> replica;
  std::optional<int> task;
  std::optional<std::string> type;  // upper case: "CPU", "GPU"
  std::optional<int> index;

  // Throws InvalidArgument naming the part that is wrong and the grammar. The empty string is the empty specification.
  static DeviceName Parse(std::string_view text);

  bool is_empty() const { return !job && !replica && !task && !type && !index; }
  // All five parts are set.
  bool is_full() const { return job && replica && task && type && index; }
  // This specification, with the parts it leaves unset filled from "outer" (scopes merge innermost first).
  DeviceName MergedInto(const DeviceName& outer) const;
  // Whether "full" agrees with every part set here.
  bool Matches(const DeviceName& full) const;
  // The canonical form, "/job:worker/replica:0/task:1/device:GPU:0". Unset parts are left out, but for the index beside
  // a type and the type beside an index, which are "*".
  std::string ToString() const;
  // The job, replica and task alone.
  DeviceName Task() const;

  friend bool operator==(const DeviceName&, const DeviceName&) = default;
};

}  // namespace muster
