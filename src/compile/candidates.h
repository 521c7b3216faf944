#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compile/pipeline.h"

namespace muster {

// A set of kernel tables, one bit each: which kinds of devices can run something.
using Support = uint64_t;

// The dtype that selects a node's kernel.
DType KernelDTypeOf(const Graph& graph, NodeId id);

// The devices that a node may go to: in the order in which placement prefers them, and what each can run. Borrows the
// request's devices. For one thread.
class Candidates {
 public:
  // "own" is the task that a specification without a job means; empty: every task, as in TensorFlow.
  Candidates(const std::vector<CompileDevice>& devices, DeviceName own);

  // The tables that have a kernel for this node. Nodes that compute nothing run everywhere.
  Support SupportOf(const Graph& graph, NodeId id) const;
  // Supported by every device.
  Support Everywhere() const { return ~Support{0}; }
  bool Runs(int device, Support support) const;

  // The first device that agrees with the specification and is in the support, or -1.
  int First(const DeviceName& wanted, Support support) const;
  // Whether this device is one of them. Who asks for nothing at all may go to any task.
  bool Has(int device, const DeviceName& wanted, Support support) const;
  // Whether any device agrees with the specification, whatever it can run.
  bool AnyMatches(const DeviceName& wanted) const { return First(wanted, Everywhere()) >= 0; }

  const DeviceName& name(int device) const { return devices_[static_cast<size_t>(device)].name; }
  // The full names of all devices, best first: "…/device:GPU:0, …/device:CPU:0".
  std::string Names() const;
  // The types of the devices that a support covers: "GPU, CPU", or "none".
  std::string Types(Support support) const;

 private:
  struct Question {
    DeviceName wanted;
    Support support;
  };
  struct ByParts {
    bool operator()(const Question& a, const Question& b) const;
  };

  DeviceName Resolve(const DeviceName& wanted) const;
  int FindFirst(const DeviceName& wanted, Support support) const;

  const std::vector<CompileDevice>& devices_;
  DeviceName own_;
  std::vector<int> order_;                  // indices of devices, best first
  std::vector<const KernelTable*> tables_;  // the distinct ones
  std::vector<int> table_of_;               // of each device
  // What First answered: a graph asks for a few devices many times.
  mutable std::map<Question, int, ByParts> first_;
};

}  // namespace muster
