#include "cli/partition_table.h"

#include <algorithm>

#include <fmt/format.h>

namespace muster::cli {
namespace {

// Without the layout, which is the backend's affair.
std::string ValueText(const TensorDesc& desc) { return std::string(DTypeName(desc.dtype)) + desc.shape.ToString(); }

double Mebibytes(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

const DeviceBytes* BytesOf(const PlanStats& stats, const std::string& device) {
  for (const DeviceBytes& bytes : stats.devices)
    if (bytes.device == device) return &bytes;
  return nullptr;
}

// As TensorFlow names an output: "bn" is the first, "bn:1" the second.
std::string ValueName(const PlanSummary::Transfer& t) {
  return t.output == 0 ? t.value : fmt::format("{}:{}", t.value, t.output);
}

// "/device:GPU:0" where all partitions are in one task; otherwise the whole name.
class Names {
 public:
  explicit Names(const PlanSummary& plan) {
    for (const PlanSummary::Partition& partition : plan.partitions) {
      const std::string task = Task(partition.device);
      if (common_.empty()) common_ = task;
      else if (task != common_) several_ = true;
    }
  }
  std::string operator()(const std::string& device) const {
    return several_ || Task(device) != common_ ? device : device.substr(common_.size());
  }

 private:
  static std::string Task(const std::string& device) { return device.substr(0, device.find("/device:")); }
  std::string common_;
  bool several_ = false;
};

struct Traffic {
  int count = 0;
  int64_t bytes = 0;
  std::string ToString() const { return fmt::format("{} transfer{} of {} bytes", count, count == 1 ? "" : "s", bytes); }
};

template <typename Include>
Traffic Sum(const PlanSummary& plan, Include include) {
  Traffic sum;
  for (const PlanSummary::Transfer& t : plan.transfers)
    if (include(t)) sum = {sum.count + 1, sum.bytes + t.bytes};
  return sum;
}

std::string Heading(const PlanSummary& plan, const PlanStats& stats, const std::string& device) {
  const auto count = std::find_if(plan.partitions.begin(), plan.partitions.end(), [&](const auto& p) {
                       return p.device == device;
                     })->steps.size();
  std::string text = fmt::format("{}: {} steps", device, count);
  if (const DeviceBytes* bytes = BytesOf(stats, device))
    text +=
        fmt::format(", {:.2f} MiB ({:.2f} variables, {:.2f} gradients, {:.2f} arena, {:.2f} received)",
                    Mebibytes(bytes->peak_bytes), Mebibytes(bytes->variable_bytes), Mebibytes(bytes->gradient_bytes),
                    Mebibytes(bytes->arena_bytes), Mebibytes(bytes->channel_bytes));
  if (plan.transfers.empty()) return text + "\n";
  const Traffic out = Sum(plan, [&](const auto& t) { return t.from == device; });
  const Traffic in = Sum(plan, [&](const auto& t) { return t.to == device; });
  return fmt::format("{}; sends {}, receives {}\n", text, out.ToString(), in.ToString());
}

std::string StepLine(size_t number, const PlanSummary& plan, const PlanSummary::Step& step, const Names& name) {
  std::string what;
  for (const TensorDesc& desc : step.outputs) what += (what.empty() ? "" : ", ") + ValueText(desc);
  if (step.transfer >= 0) {
    const PlanSummary::Transfer& t = plan.transfers[static_cast<size_t>(step.transfer)];
    what = fmt::format("transfer {}, {} bytes {}", step.transfer, t.bytes,
                       step.op == "_Send" ? "to " + name(t.to) : "from " + name(t.from));
  }
  return fmt::format("  {:>5} {:<36} {:<52} {}\n", number, step.op, step.name, what);
}

std::string TransferTable(const PlanSummary& plan, const Names& name) {
  std::string text = fmt::format("{:>8}  {:<52} {:<24} {:>12}  {}\n", "transfer", "value", "", "bytes", "from -> to");
  for (size_t i = 0; i < plan.transfers.size(); ++i) {
    const PlanSummary::Transfer& t = plan.transfers[i];
    text += fmt::format("{:>8}  {:<52} {:<24} {:>12}  {} -> {}\n", i, ValueName(t), ValueText(t.desc), t.bytes,
                        name(t.from), name(t.to));
  }
  return text;
}

}  // namespace

std::string PartitionTable(const PlanSummary& plan, const PlanStats& stats) {
  const Names name(plan);
  std::string text;
  for (const PlanSummary::Partition& partition : plan.partitions) {
    text += Heading(plan, stats, partition.device);
    for (size_t i = 0; i < partition.steps.size(); ++i) text += StepLine(i, plan, partition.steps[i], name);
    text += "\n";
  }
  if (plan.transfers.empty()) return text + "No transfers between devices.\n";
  const Traffic all = Sum(plan, [](const auto&) { return true; });
  return text + TransferTable(plan, name) + fmt::format("In all {} each step.\n", all.ToString());
}

Json PartitionJson(const PlanSummary& plan, const PlanStats& stats) {
  Json partitions = Json::Array(), transfers = Json::Array();
  for (const PlanSummary::Partition& partition : plan.partitions) {
    Json steps = Json::Array();
    for (const PlanSummary::Step& step : partition.steps) {
      Json outputs = Json::Array();
      for (const TensorDesc& desc : step.outputs) outputs.push_back(ValueText(desc));
      Json json = {{"name", step.name}, {"op", step.op}, {"outputs", outputs}};
      if (step.transfer >= 0) json["transfer"] = step.transfer;
      steps.push_back(std::move(json));
    }
    Json json = {{"device", partition.device}};
    if (const DeviceBytes* bytes = BytesOf(stats, partition.device)) json["peak_bytes"] = bytes->peak_bytes;
    json["steps"] = std::move(steps);
    partitions.push_back(std::move(json));
  }
  for (const PlanSummary::Transfer& t : plan.transfers) {
    const auto dims = t.desc.shape.dims();
    transfers.push_back({{"value", ValueName(t)},
                         {"dtype", DTypeName(t.desc.dtype)},
                         {"shape", std::vector<int64_t>(dims.begin(), dims.end())},
                         {"bytes", t.bytes},
                         {"from", t.from},
                         {"to", t.to}});
  }
  Json json;
  json["partitions"] = std::move(partitions);
  json["transfers"] = std::move(transfers);
  json["transfer_bytes"] = Sum(plan, [](const auto&) { return true; }).bytes;
  return json;
}

}  // namespace muster::cli
