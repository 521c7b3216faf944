#pragma once

#include <memory>
#include <string>
#include <vector>

#include "muster/graph.h"
#include "muster/plan_stats.h"
#include "plan/kernel.h"

namespace muster {

// The blocks of memory that a partition's values live in.
enum class Region : uint8_t {
  kNone,      // absent
  kArena,     // activations and workspaces, planned; nothing survives a replay
  kGradient,  // gradients that updates read, side by side in the order of their variables
  kVariable,  // index = entry of the session's VariableTable
  kConstant,  // index = constant of the partition
  kFeed,      // index = feed of the plan
  kChannel,   // what arrives from other devices and no update reads
  kSeparate,  // index = allocation of its own
};

// Where a value is: bound to an address when an executor is built.
struct Place {
  Region region = Region::kNone;
  int index = 0;
  int64_t offset = 0;
};

inline constexpr int kUpdatePhase = 2;

// One bound computation of a device's list.
struct Step {
  std::string name;
  OpKind kind = OpKind::kNoOp;
  Attrs attrs;
  std::unique_ptr<Kernel> kernel;
  std::vector<Place> inputs, outputs;
  Place workspace;
  int64_t workspace_bytes = 0;
  std::vector<TensorDesc> input_descs, output_descs;
  int stream = 0;                            // of the partition's; a receive has none
  int send_channel = -1, recv_channel = -1;  // the channel this step fills or waits for
  std::vector<int> waits, signals;           // events of the plan
  int phase = 0;                             // 0 forward, 1 backward, kUpdatePhase: for the time split
  bool updates_from_gradient = false;        // writes a variable with something that a gradient went into
};

// A stream that a partition's steps run on: its device's own, or, for copies from a host to a device, that device's
// copy-in.
struct StreamSpec {
  int device_index = 0;
  StreamKind kind = StreamKind::kCompute;
  friend bool operator==(const StreamSpec&, const StreamSpec&) = default;
};

// What one device does in a step. Its driver enqueues the steps in order; each runs on its stream.
struct Partition {
  DeviceName device;
  int device_index = 0;
  std::vector<Step> steps;
  std::vector<Tensor> constants;
  std::vector<int64_t> separate_bytes;
  int64_t arena_bytes = 0;
  int64_t arena_lower_bound = 0;
  int64_t gradient_bytes = 0;
  int64_t channel_bytes = 0;
  std::vector<StreamSpec> streams;  // the first is the device's compute stream
};

// One tensor per step from one partition to another, copied straight to where its readers find it. Channel numbers
// follow the plan's one global order. The copy's event is among the sending step's signals; readers have it among their
// waits.
struct ChannelSpec {
  std::string name;
  int output = 0;  // of the node that makes the value
  TensorDesc desc;
  int from = 0, to = 0;  // partitions
  Place place;           // on the receiver; nothing else lies there
};

// A point in a stream: recorded behind one step, waited for before others.
struct EventSpec {
  int partition = 0, stream = 0;  // that record it
};

// A value that enters or leaves the plan.
struct Port {
  int partition = 0;
  Place place;
  TensorDesc desc;
};

// A compiled program: for each device a flat list of steps over planned memory. Immutable once built; its kernels are
// launched by one executor at a time.
struct Plan {
  std::vector<Partition> partitions;
  std::vector<ChannelSpec> channels;
  std::vector<EventSpec> events;
  std::vector<Port> feeds, fetches;
  PlanStats stats;
  std::vector<Graph> graphs;  // what each partition computes, for exports; empty unless asked for
  int variable_version = 0;
  // What compiling looked at, counted: nodes and edges visited by passes, moved edges, accesses to memory compared, and
  // what is known of streams (16 numbers count as one). In proportion to the steps, however many devices there are; a
  // test holds it to that.
  int64_t compile_work = 0;
};

// The plan as text: one line per step with places, streams and channels.
std::string PlanToText(const Plan& plan);

}  // namespace muster
