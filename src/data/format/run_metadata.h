#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace muster::data {

// One operation of a step as it ran.
struct NodeStats {
  std::string device;  // full name; "/stream:NAME" behind it for another stream than that of computation
  std::string name, label;
  int64_t start_micros = 0, micros = 0;  // since 1970; how long it took
  int64_t output_bytes = 0;              // memory for what it computed
  int64_t workspace_bytes = 0;           // memory that it needed only while it ran
};

// A RunMetadata message: TensorBoard colours the graph by the time and the memory of each operation. Devices in order
// of appearance.
std::string RunMetadataBytes(std::span<const NodeStats> nodes);

// The reverse, for tests and tools: nodes in the order of the message. Throws DataLoss beginning with "where".
std::vector<NodeStats> ParseRunMetadata(const std::string& bytes, const std::string& where);

}  // namespace muster::data
