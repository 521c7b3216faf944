#include "muster/replica_device_setter.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "muster/error.h"

namespace muster {
namespace {

void CheckTasks(int num_tasks) {
  if (num_tasks < 1)
    throw InvalidArgument(fmt::format("variables need at least one task to be spread over, not {}", num_tasks));
}

int PsTasks(const ReplicaDeviceSetterOptions& options, const DeviceName& ps) {
  if (options.cluster.empty()) return options.ps_tasks;
  if (!ps.job)
    throw InvalidArgument(
        fmt::format("ps_device \"{}\" names no job of the cluster; /job:ps would", options.ps_device));
  const auto found = options.cluster.find(*ps.job);
  return found == options.cluster.end() ? 0 : found->second;
}

}  // namespace

PsStrategy RoundRobin(int num_tasks) {
  CheckTasks(num_tasks);
  return [num_tasks, next = std::make_shared<int>(0)](const Node&) {
    const int task = *next;
    *next = (task + 1) % num_tasks;
    return task;
  };
}

double ByteSizeLoad(const Node& node) {
  const auto* variable = node.attrs.get_if<VariableAttrs>();
  if (variable == nullptr)
    throw InvalidArgument(
        fmt::format("{} ({}) is no variable: its load in bytes is not known", node.name, OpName(node.kind)));
  return static_cast<double>(TensorDesc{variable->dtype, variable->shape, {}}.byte_size());
}

PsStrategy GreedyLoadBalancing(int num_tasks, LoadFunction load) {
  CheckTasks(num_tasks);
  return [load = std::move(load),
          loads = std::make_shared<std::vector<double>>(static_cast<size_t>(num_tasks), 0.0)](const Node& node) {
    const auto least = std::min_element(loads->begin(), loads->end());
    *least += load(node);
    return static_cast<int>(least - loads->begin());
  };
}

DeviceFunction ReplicaDeviceSetter(const ReplicaDeviceSetterOptions& options) {
  const DeviceName ps = DeviceName::Parse(options.ps_device), worker = DeviceName::Parse(options.worker_device);
  const int tasks = PsTasks(options, ps);
  if (tasks < 0) throw InvalidArgument(fmt::format("ps_tasks is {}, but must be at least 0", tasks));
  if (tasks == 0) return nullptr;
  const PsStrategy strategy = options.strategy ? options.strategy : RoundRobin(tasks);
  return [=, merge = options.merge_devices, ps_ops = options.ps_ops](const Node& node) {
    const DeviceName& asked = node.device;
    if (!merge && !asked.is_empty()) return asked.ToString();
    const bool goes_to_ps = !ps.is_empty() && std::find(ps_ops.begin(), ps_ops.end(), node.kind) != ps_ops.end();
    if (!goes_to_ps) return asked.MergedInto(worker).ToString();
    DeviceName own = ps;
    if (ps.job && (!asked.job || asked.job == ps.job)) own.task = strategy(node);
    return asked.MergedInto(own).ToString();
  };
}

}  // namespace muster
