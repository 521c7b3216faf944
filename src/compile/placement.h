#pragma once

#include <map>
#include <memory>
#include <vector>

#include "compile/pipeline.h"
#include "muster/error.h"
#include "muster/soft_placement.h"

namespace muster {

// Where each node of a graph goes. The whole graph is placed, whatever part of it runs, so that one log tells the truth
// about every plan. A group that cannot be placed is an error only for who asks for one of its nodes. A value.
class Placement {
 public:
  Placement(int num_nodes, std::vector<CompileDevice> devices)
      : device_(static_cast<size_t>(num_nodes), -1), devices_(std::move(devices)) {}

  // The node's device, as an index into the request's devices. Throws InvalidArgument or Unimplemented with the reason
  // if it has none.
  int DeviceOf(NodeId id) const;
  const DeviceName& NameOf(NodeId id) const { return devices_[static_cast<size_t>(DeviceOf(id))].name; }
  // "b: (MatMul): /job:localhost/replica:0/task:0/device:CPU:0", as TensorFlow logs placements; for a node without
  // a device "b: (MatMul): none: " and the reason.
  std::string Line(const Graph& graph, NodeId id) const;
  // What soft placement moved, in order of construction.
  const std::vector<SoftPlacement>& moved() const { return moved_; }

 private:
  friend class Placer;
  std::vector<int> device_;
  std::vector<CompileDevice> devices_;
  std::map<NodeId, std::shared_ptr<const Error>> problems_;  // of nodes without a device; one object for each group
  std::vector<SoftPlacement> moved_;
};

// Places all nodes of the request's graph by TensorFlow 1's rules (docs/placement.md), and fixes in the variable table
// where variables live that had no device yet. Feeds, fetches and targets are not looked at. Throws what DeviceOf would
// throw for a variable.
Placement PlaceGraph(const CompileRequest& request);

}  // namespace muster
