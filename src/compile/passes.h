#pragma once

#include "compile/compile_graph.h"
#include "compile/pipeline.h"

namespace muster {

// One pass per file. Each takes the working graph and leaves it correct; pipeline.cc alone knows their order.

// place.cc: a device for every node, as placement.h chose it for the whole graph.
void PlaceNodes(CompileGraph& graph, const CompileRequest& request);
// join_collectives.cc: the CollectiveReduce nodes of one instance become one sum that all their readers read.
void JoinCollectives(CompileGraph& graph);
// forward_identities.cc: readers of Identity read its input; copies appear where a variable's value must be kept.
void ForwardIdentities(CompileGraph& graph);
// data_format.cc: NCHW operations become NHWC ones with transposes at the edges, which then cancel.
void ConvertToNHWC(CompileGraph& graph);
// fold_constants.cc: operations on constants are computed once, here.
void FoldConstants(CompileGraph& graph, const CompileRequest& request);
// common_subexpressions.cc: equal operations on equal inputs become one.
void ShareCommonSubexpressions(CompileGraph& graph);
// fuse_bias.cc: Conv2D or MatMul with BiasAdd and Relu; filter gradient with bias gradient.
void FuseBias(CompileGraph& graph, const CompileRequest& request);
// fuse_batch_norm.cc: batch norm with Relu and a residual sum, forward and backward.
void FuseBatchNorm(CompileGraph& graph, const CompileRequest& request);
// fuse_max_pool.cc: the gradient of a max pool with that of the ReLU in front of it.
void FuseMaxPool(CompileGraph& graph, const CompileRequest& request);
// fuse_weight_decay.cc: an update whose gradient is grad + decay * variable takes the decay as an input.
void FuseWeightDecay(CompileGraph& graph);
// fuse_gradient_update.cc: an update by plain gradient descent whose gradient is a matrix product is made tile by tile,
// and the gradient never written.
void FuseGradientUpdate(CompileGraph& graph, const CompileRequest& request);
// schedule_exchange.cc: the order of the nodes on several devices: side by side, and buckets exchanged during the
// backward pass.
void ScheduleExchange(CompileGraph& graph);
// keep_gradient_precision.cc: bfloat16 sums that are then cast to float32 are not rounded in between.
void KeepGradientPrecision(CompileGraph& graph);
// partition.cc: _Send and _Recv on every edge between devices, once per value and destination.
std::vector<ChannelSpec> Partitioning(CompileGraph& graph);
// layout.cc: layouts of variables and opaque values; _Reorder where producer and consumer differ.
void ChooseLayouts(CompileGraph& graph, const CompileRequest& request);
// order_updates.cc: control edges so that reads of a variable come before the step's updates of it, but for those that
// the user put behind one.
void OrderUpdates(CompileGraph& graph);
// hold_updates.cc: updates that nothing in the step comes after are scheduled at its end.
void HoldUpdates(CompileGraph& graph, const CompileRequest& request);
// lower.cc: kernels, places and lifetimes: the plan.
Plan Lower(CompileGraph& graph, std::vector<ChannelSpec> channels, const CompileRequest& request);
// fit_memory.cc: the plan with as little recomputation as makes it fit the memory limits; if nothing does, the smallest
// found.
Plan LowerToFit(CompileGraph& graph, const std::vector<ChannelSpec>& channels, const CompileRequest& request);
// partition_graphs.cc: what each device computes, by partition.
std::vector<Graph> PartitionGraphs(const CompileGraph& graph, const CompileRequest& request);
// coalesce_updates.cc: neighbouring updates over contiguous memory become one step.
void CoalesceUpdates(Plan& plan, const CompileRequest& request);
// streams.cc: a stream for each step, and the fewest waits between streams that keep every access to memory in order.
void AssignStreams(Plan& plan, const CompileRequest& request);

// statistics.cc: what each device holds for a plan that was just lowered, and what a finished plan does.
void CountBytes(Plan& plan, const CompileGraph& graph, const CompileRequest& request);
void CountSteps(Plan& plan);

// The request that a node makes of a kernel table.
KernelRequest RequestFor(const CompileGraph& graph, NodeId id);
// The row's kernel for a request. Conditional updates are the compiler's work, but where a stream runs kernels later:
// there the device's own table looks at the condition when it is time.
PreparedKernel PrepareOn(const CompileDevice& device, const KernelRow& row, const KernelRequest& request);
// The row that runs a node on a device, or nullptr.
const KernelRow* FindRow(const CompileGraph& graph, NodeId id, const CompileDevice& device);

}  // namespace muster
