#include "compile/candidates.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/check.h"
#include "graph/op_def.h"

namespace muster {
namespace {

// TensorFlow's priorities of device types: the higher is preferred.
int TypePriority(const std::string& type) {
  if (type == "GPU") return 210;
  if (type == "CPU") return 70;
  return 0;
}

// Memory and edges alone; everything else is a kernel's work.
bool NeedsKernel(const Node& node) {
  switch (node.kind) {
    case OpKind::kPlaceholder:
    case OpKind::kConst:
    case OpKind::kVariable:
    case OpKind::kNoOp:
    case OpKind::kCollectiveReduce:  // the compiler makes sums of it
      return false;
    default: return !GetOpDef(node.kind).is_alias;
  }
}

}  // namespace

DType KernelDTypeOf(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  KernelRequest request{node.kind, &node.attrs, {}, node.outputs, {}, 0};
  for (Output input : node.inputs) request.inputs.push_back(graph.desc(input));
  return KernelDType(request);
}

Candidates::Candidates(const std::vector<CompileDevice>& devices, DeviceName own)
    : devices_(devices), own_(std::move(own)), order_(devices.size()) {
  std::iota(order_.begin(), order_.end(), 0);
  std::vector<std::string> names;
  for (const CompileDevice& device : devices) {
    names.push_back(device.name.ToString());
    auto it = std::find(tables_.begin(), tables_.end(), device.kernels);
    table_of_.push_back(static_cast<int>(it - tables_.begin()));
    if (it == tables_.end()) tables_.push_back(device.kernels);
  }
  MUSTER_CHECK(tables_.size() <= 64);
  std::sort(order_.begin(), order_.end(), [&](int a, int b) {
    const int pa = TypePriority(*name(a).type), pb = TypePriority(*name(b).type);
    return pa != pb ? pa > pb : names[static_cast<size_t>(a)] < names[static_cast<size_t>(b)];
  });
}

Support Candidates::SupportOf(const Graph& graph, NodeId id) const {
  const Node& node = graph.node(id);
  if (!NeedsKernel(node)) return Everywhere();
  const DType dtype = KernelDTypeOf(graph, id);
  Support support = 0;
  for (size_t i = 0; i < tables_.size(); ++i)
    if (tables_[i]->Find(node.kind, dtype) != nullptr) support |= Support{1} << i;
  return support;
}

bool Candidates::Runs(int device, Support support) const {
  return (support >> table_of_[static_cast<size_t>(device)] & 1) != 0;
}

DeviceName Candidates::Resolve(const DeviceName& wanted) const {
  if (wanted.job) return wanted;
  DeviceName resolved = wanted;
  resolved.job = own_.job;
  if (!resolved.replica) resolved.replica = own_.replica;
  if (!resolved.task) resolved.task = own_.task;
  return resolved;
}

bool Candidates::ByParts::operator()(const Question& a, const Question& b) const {
  const auto parts = [](const Question& q) {
    return std::tie(q.support, q.wanted.job, q.wanted.replica, q.wanted.task, q.wanted.type, q.wanted.index);
  };
  return parts(a) < parts(b);
}

int Candidates::First(const DeviceName& wanted, Support support) const {
  const auto [known, is_new] = first_.try_emplace(Question{wanted, support}, -1);
  if (is_new) known->second = FindFirst(wanted, support);
  return known->second;
}

int Candidates::FindFirst(const DeviceName& wanted, Support support) const {
  const DeviceName resolved = Resolve(wanted);
  for (int device : order_)
    if (Runs(device, support) && resolved.Matches(name(device))) return device;
  return -1;
}

bool Candidates::Has(int device, const DeviceName& wanted, Support support) const {
  return Runs(device, support) && (wanted.is_empty() || Resolve(wanted).Matches(name(device)));
}

std::string Candidates::Names() const {
  std::string text;
  for (int device : order_) text += (text.empty() ? "" : ", ") + name(device).ToString();
  return text;
}

std::string Candidates::Types(Support support) const {
  std::vector<std::string> types;
  for (int device : order_)
    if (Runs(device, support) && std::find(types.begin(), types.end(), *name(device).type) == types.end())
      types.push_back(*name(device).type);
  std::string text;
  for (const std::string& type : types) text += (text.empty() ? "" : ", ") + type;
  return text.empty() ? "none" : text;
}

}  // namespace muster
