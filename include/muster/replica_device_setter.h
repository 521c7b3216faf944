#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "muster/scope.h"

namespace muster {

// Chooses the parameter-server task for a node that goes to one, by asking in the order in which nodes are made. Copies
// share one state, so that all scopes of a graph are served by one count.
using PsStrategy = std::function<int(const Node& node)>;

// 0, 1, …, num_tasks - 1, 0, …: each node takes one turn, whatever its size. Throws InvalidArgument without a task.
PsStrategy RoundRobin(int num_tasks);

// The load of a node: here the bytes of a variable's value. Throws InvalidArgument for a node that is no variable.
using LoadFunction = std::function<double(const Node& node)>;
double ByteSizeLoad(const Node& node);

// The task with the least load so far, the first of equal ones; so the order in which variables are made matters.
// Throws InvalidArgument without a task.
PsStrategy GreedyLoadBalancing(int num_tasks, LoadFunction load = ByteSizeLoad);

// tf.train.replica_device_setter's arguments.
struct ReplicaDeviceSetterOptions {
  int ps_tasks = 0;  // tasks of the parameter servers' job
  std::map<std::string, int>
      cluster;  // tasks of each job; unless empty, its job of ps_device says how many ps_tasks there are
  std::string ps_device = "/job:ps";
  std::string worker_device = "/job:worker";
  bool merge_devices = true;  // false: a node for which scopes inside ask for anything keeps just that
  std::vector<OpKind> ps_ops = {OpKind::kVariable};  // what goes to parameter servers
  PsStrategy strategy = nullptr;                     // empty: RoundRobin
};

// What spreads variables over the tasks of parameter servers and gives all other nodes to the worker, for
// Scope::WithDeviceFunction. What scopes inside ask for wins part by part. A variable whose scope names another job
// keeps that job and takes no turn; one whose scope names the parameter servers' job, with or without a task, takes
// one. What is colocated (optimizer slots, updates) follows its node and takes none.
//
// Empty if there is no task for parameters; WithDeviceFunction then forgets all device scopes, as tf.device(None) does,
// so that not even worker_device is asked for.
//
// Every worker that shares these parameters must make the same variables in the same order: nothing else makes them
// agree on tasks. Device strings only: no cluster needs to exist. Throws InvalidArgument for device strings that cannot
// be read and for a ps_device without a job when a cluster is given.
DeviceFunction ReplicaDeviceSetter(const ReplicaDeviceSetterOptions& options);

}  // namespace muster
