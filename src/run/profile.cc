#include "muster/profile.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "base/proto_bytes.h"
#include "graph/op_def.h"
#include "run/proto/profile.pb.h"

namespace muster {
namespace {

int64_t Micros(double seconds) { return static_cast<int64_t>(seconds * 1e6 + 0.5); }

// tfprof knows devices by their lower-case names.
std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

int64_t OutputBytes(const Node& node) {
  const OpDef& def = GetOpDef(node.kind);
  if (def.num_refs > 0 || def.is_alias) return 0;
  int64_t bytes = 0;
  for (const TensorDesc& desc : node.outputs) bytes += desc.byte_size();
  return bytes;
}

void SetShape(const TensorDesc& desc, tfprof::Tuple* tuple) {
  for (int64_t dim : desc.shape.dims()) tuple->add_int64_values(dim);
}

}  // namespace

Profile::Profile(std::vector<Graph> graphs) : graphs_(std::move(graphs)), operation_of_(graphs_.size()) {
  std::set<std::string> names;
  for (size_t g = 0; g < graphs_.size(); ++g)
    for (NodeId id = 0; id < graphs_[g].num_nodes(); ++id) {
      const Node& node = graphs_[g].node(id);
      const int index = static_cast<int>(operations_.size());
      by_device_.emplace(std::pair(node.device.ToString(), node.name), index);
      operation_of_[g].push_back(index);
      // A constant may be on several devices under one name, which tfprof does not allow.
      std::string name = node.name;
      for (int copy = 1; !names.insert(name).second; ++copy) name = fmt::format("{}_{}", node.name, copy);
      operations_.push_back(
          {std::move(name), std::string(OpName(node.kind)), static_cast<int>(g), id, {}, 0, OutputBytes(node)});
    }
}

bool Profile::IsAccelerator(const Operation& operation) const {
  return graphs_[static_cast<size_t>(operation.graph)].node(operation.node).device.type != "CPU";
}

void Profile::AddStep(int64_t step, const Timeline& timeline) {
  steps_.push_back(step);
  for (const TimelineSpan& span : timeline.spans) {
    const auto found = by_device_.find({span.device, span.name});
    if (found == by_device_.end() || span.op == "_Recv") continue;  // a receive only waits
    Operation& operation = operations_[static_cast<size_t>(found->second)];
    operation.runs[step].push_back({Micros(span.start), std::max<int64_t>(Micros(span.seconds), 1)});
    operation.float_ops = span.float_ops;
  }
}

std::string Profile::ToProfileProto() const {
  tfprof::ProfileProto proto;
  for (int64_t step : steps_) proto.add_steps(step);
  auto& nodes = *proto.mutable_nodes();
  for (size_t id = 0; id < operations_.size(); ++id) {
    const Operation& operation = operations_[id];
    const Node& node = graphs_[static_cast<size_t>(operation.graph)].node(operation.node);
    const std::string device = Lower(node.device.ToString());
    tfprof::ProfileNode& out = nodes[static_cast<int64_t>(id)];
    out.set_id(static_cast<int64_t>(id));
    out.set_name(operation.name);
    out.set_op(operation.op);
    out.set_canonical_device(device);
    out.set_float_ops(operation.float_ops);
    for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i)
      SetShape(node.outputs[static_cast<size_t>(i)], &(*out.mutable_output_shapes())[i]);
    for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
      const Output input = node.inputs[static_cast<size_t>(i)];
      const int64_t from = operation_of_[static_cast<size_t>(operation.graph)][static_cast<size_t>(input.node)];
      (*out.mutable_inputs())[i] = from;
      (*out.mutable_src_output_index())[from] = input.index;
      SetShape(graphs_[static_cast<size_t>(operation.graph)].desc(input), &(*out.mutable_input_shapes())[i]);
      (*nodes[from].mutable_outputs())[input.index] = static_cast<int64_t>(id);
    }
    for (const auto& [step, runs] : operation.runs) {
      tfprof::ExecProfile& exec = (*out.mutable_execs())[step];
      exec.set_run_count(static_cast<int64_t>(runs.size()));
      exec.set_all_start_micros(runs.front().start);
      exec.add_devices(device);
      tfprof::ExecTime& times = IsAccelerator(operation) ? (*exec.mutable_accelerator_execs())[device + "/stream:all"]
                                                         : (*exec.mutable_cpu_execs())[device];
      for (const Run& run : runs) {
        exec.set_latest_end_micros(std::max(exec.latest_end_micros(), run.start + run.micros));
        tfprof::Tuple& time = *times.add_times();
        time.add_int64_values(run.start);
        time.add_int64_values(run.micros);
      }
      tfprof::ExecMemory& memory = *exec.add_memory_execs();
      memory.set_memory_micros(runs.front().start);
      memory.set_requested_bytes(operation.output_bytes);
      memory.set_peak_bytes(operation.output_bytes);
      memory.set_residual_bytes(operation.output_bytes);
      memory.set_output_bytes(operation.output_bytes);
    }
  }
  return ProtoBytes(proto);
}

}  // namespace muster
