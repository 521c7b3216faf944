#include "train/memory_fit.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/system_memory.h"
#include "muster/error.h"

namespace muster::train {
namespace {

// Then the line has led astray, and halving finds the rest.
constexpr int kPlansOnALine = 10;
constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

std::string Gibibytes(int64_t bytes) {
  const double mib = static_cast<double>(bytes) / (1 << 20);
  return mib < 1000 ? fmt::format("{:.1f} MiB", mib) : fmt::format("{:.2f} GiB", mib / 1024);
}

// "/device:GPU:0" of "/job:localhost/replica:0/task:0/device:GPU:0".
std::string ShortName(const std::string& device) {
  const size_t at = device.find("/device:");
  return at == std::string::npos ? device : device.substr(at);
}

// A batch and what it needs.
struct Point {
  int64_t batch = 0;
  MemoryNeeds needs;
};

// Where the line through two points (or, without "other", the line from nothing) crosses the first limit.
int64_t Crossing(const Point& at, const Point* other) {
  double reach = static_cast<double>(kNone) / 4;
  for (size_t i = 0; i < at.needs.size(); ++i) {
    const double bytes = static_cast<double>(at.needs[i].bytes), left = static_cast<double>(at.needs[i].limit) - bytes;
    double per_image = bytes / static_cast<double>(at.batch);
    if (other != nullptr)
      per_image = (bytes - static_cast<double>(other->needs[i].bytes)) / static_cast<double>(at.batch - other->batch);
    if (per_image > 0) reach = std::min(reach, static_cast<double>(at.batch) + left / per_image);
    else if (left < 0) reach = 0;  // fewer images do not help
  }
  return static_cast<int64_t>(std::max(reach, 0.0));
}

int64_t FreeForPlans() {
  constexpr int64_t kForOtherThings = int64_t{64} << 20;
  return std::max<int64_t>(1, ReadSystemMemory().free().value_or(kNone) - kForOtherThings);
}

// The need that is furthest above its limit, in proportion.
const MemoryNeed& Tightest(const MemoryNeeds& needs) {
  return *std::max_element(needs.begin(), needs.end(), [](const MemoryNeed& a, const MemoryNeed& b) {
    return static_cast<double>(a.bytes) * static_cast<double>(b.limit) <
           static_cast<double>(b.bytes) * static_cast<double>(a.limit);
  });
}

// A batch that fits with recomputation, told from two plans and then tried; 0 if none above "fits" was found.
int64_t EstimateRecomputed(const FitQuestion& question, int64_t fits) {
  constexpr int kTries = 5;
  const PlanMemory& plan = question.plan_to_fit != nullptr ? question.plan_to_fit : question.plan_recomputed;
  const int64_t small = std::max<int64_t>(1, fits), wanted = question.batch_size;
  int64_t guess = wanted;
  if (const Point high{wanted, question.plan_recomputed(wanted)}; small < wanted && !Fits(high.needs)) {
    const Point low{small, question.plan_recomputed(small)};
    guess = std::min(Crossing(low, &high), wanted - 1);
  }
  for (int i = 0; i < kTries && guess > fits; ++i, guess -= std::max<int64_t>(1, guess / 20))
    if (Fits(plan(guess))) return guess;
  return 0;
}

// What fits without recomputation, and with it.
std::string WhatFits(const FitQuestion& question, int64_t fits) {
  std::string text = fits > 0 ? fmt::format("--{}={} fits", question.flag, fits) : "not even a batch of one image fits";
  if (question.plan_recomputed == nullptr || question.first_batch != 0) return text;
  const int64_t more = EstimateRecomputed(question, fits);
  if (more == 0) return text;
  const bool is_all = more == question.batch_size;
  if (fits == 0)
    return text + (is_all ? "; with --recompute=auto this one does"
                          : fmt::format("; with --recompute=auto about {} do", more));
  return text + (is_all ? ", and so does this one with --recompute=auto"
                        : fmt::format(", with --recompute=auto about {}", more));
}

std::string Advice(const MemoryNeeds& needs, const FitQuestion& question) {
  const MemoryNeed& tightest = Tightest(needs);
  const PlanMemory plan = [&](int64_t batch) {
    return batch == question.batch_size && question.first_batch == 0 ? needs : question.plan(batch);
  };
  const int64_t first = question.first_batch > 0 ? question.first_batch : question.batch_size;
  const int64_t fits = LargestBatch(first, question.batch_size, plan);
  std::string text = WhatFits(question, fits);
  if (tightest.exchange_bytes > tightest.bytes / 50)
    text += fmt::format("; {} of it are exchange buffers ({})", Gibibytes(tightest.exchange_bytes),
                        question.exchange_flags);
  return text;
}

// Whether each device that holds variables has more beside them, for the plan, than drawing first values can take: they
// are drawn one variable at a time, with at most this many copies.
bool HasRoomForFirstValues(const Graph& graph, const PlanStats& plan) {
  constexpr int64_t kCopies = 4;
  int64_t largest = 0;
  for (const VariableInfo& variable : graph.variables())
    largest = std::max(largest, graph.desc(variable.ref).byte_size());
  return std::all_of(plan.devices.begin(), plan.devices.end(), [&](const DeviceBytes& device) {
    return device.variable_bytes == 0 || device.peak_bytes - device.variable_bytes >= kCopies * largest;
  });
}

// The needs of each device with a limit of its own, then the host's of the others alone.
MemoryNeeds SeparateNeeds(const std::vector<const PlanStats*>& plans, const std::vector<DeviceInfo>& devices,
                          int64_t host_limit) {
  MemoryNeeds needs;
  MemoryNeed host{.where = "the host", .limit = host_limit};
  for (size_t d = 0; d < devices.size(); ++d) {
    const bool has_own_limit = devices[d].physical_id >= 0 && devices[d].memory_limit > 0;
    MemoryNeed own{.where = ShortName(devices[d].name),
                   .limit = devices[d].memory_limit,
                   .is_on_host = devices[d].uses_host_memory};
    MemoryNeed& need = has_own_limit ? own : host;
    for (const PlanStats* plan : plans) {
      const DeviceBytes& bytes = plan->devices[d];
      need.bytes += bytes.peak_bytes - (plan == plans[0] ? 0 : bytes.variable_bytes);
      need.exchange_bytes += bytes.channel_bytes;
    }
    if (has_own_limit) needs.push_back(std::move(own));
  }
  if (host_limit > 0) needs.push_back(std::move(host));
  return needs;
}

// Simulated cards keep every page that they once used, so that each counts with its own peak.
MemoryNeeds WithCardsOnHost(MemoryNeeds needs, int64_t host_limit) {
  if (host_limit == 0) return needs;
  for (size_t i = 0; i + 1 < needs.size(); ++i) {
    if (!needs[i].is_on_host) continue;
    needs.back().bytes += needs[i].bytes;
    needs.back().exchange_bytes += needs[i].exchange_bytes;
  }
  return needs;
}

}  // namespace

MemoryNeeds NeedsOf(const std::vector<const PlanStats*>& plans, const std::vector<DeviceInfo>& devices,
                    int64_t host_limit) {
  return WithCardsOnHost(SeparateNeeds(plans, devices, host_limit), host_limit);
}

MemoryNeeds NeedsOf(const PlanStats& stats, const std::vector<DeviceInfo>& devices, int64_t host_limit) {
  return NeedsOf(std::vector<const PlanStats*>{&stats}, devices, host_limit);
}

MemoryNeeds Larger(MemoryNeeds a, const MemoryNeeds& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (b[i].bytes > a[i].bytes) a[i] = b[i];
  return a;
}

MemoryNeeds NeedsOf(Session& session, const Graph& graph, const std::vector<const PlanStats*>& plans,
                    int64_t host_limit) {
  const std::vector<DeviceInfo> devices = session.Devices();
  MemoryNeeds needs = SeparateNeeds(plans, devices, host_limit);
  if (HasRoomForFirstValues(graph, *plans[0])) return WithCardsOnHost(std::move(needs), host_limit);
  std::vector<NodeId> initializers;
  for (const VariableInfo& variable : graph.variables()) initializers.push_back(variable.initializer);
  const auto first_values = session.Prepare({}, {}, initializers);
  return WithCardsOnHost(Larger(std::move(needs), SeparateNeeds({&first_values->stats()}, devices, host_limit)),
                         host_limit);
}

bool Fits(const MemoryNeeds& needs) {
  return std::all_of(needs.begin(), needs.end(), [](const MemoryNeed& need) { return need.bytes <= need.limit; });
}

int64_t HostBytes(const MemoryNeeds& needs) { return needs.back().bytes; }

int64_t LargestBatch(int64_t start, int64_t most, const PlanMemory& plan) {
  int64_t fits = 0, too_large = most + 1;
  Point last, before;
  int plans = 0;
  for (int64_t next = std::clamp<int64_t>(start, 1, most); too_large - fits > 1;) {
    before = std::move(last);
    last = {next, plan(next)};
    (Fits(last.needs) ? fits : too_large) = next;
    next =
        std::clamp(Crossing(last, before.batch > 0 ? &before : nullptr), fits + 1, std::max(fits + 1, too_large - 1));
    if (++plans > kPlansOnALine) next = fits + std::max<int64_t>(1, (too_large - fits) / 2);
  }
  return fits;
}

void CheckFits(const MemoryNeeds& needs, const FitQuestion& question) {
  if (Fits(needs)) return;
  const MemoryNeed& tightest = Tightest(needs);
  throw Error(Code::kResourceExhausted,
              fmt::format("--{}={} needs {}{} of memory on {}, which has {}; {}", question.flag, question.batch_size,
                          question.first_batch > 0 ? "more than " : "", Gibibytes(tightest.bytes), tightest.where,
                          Gibibytes(tightest.limit), Advice(needs, question)));
}

std::string RecomputeNote(const PlanStats& stats) {
  if (stats.num_recomputed == 0) return "";
  return fmt::format("recompute: {} step{} of the forward pass run{} again in the backward pass, {:.3g} GFLOP more",
                     stats.num_recomputed, stats.num_recomputed == 1 ? "" : "s", stats.num_recomputed == 1 ? "s" : "",
                     stats.recompute_flops / 1e9);
}

int64_t HostMemoryLimit(int64_t limit_mb) {
  const int64_t free = FreeForPlans();
  return limit_mb > 0 ? std::min(free, limit_mb << 20) : free;
}

int64_t SparingHostLimitMb(int64_t limit_mb) {
  const int64_t sparing = std::max<int64_t>(1, (FreeForPlans() / 32 * 31) >> 20);
  return limit_mb > 0 ? std::min(limit_mb, sparing) : sparing;
}

std::string HostLimitNote(int64_t limit_mb) {
  const int64_t free = FreeForPlans();
  if (limit_mb <= 0 || free >= limit_mb << 20) return "";
  return fmt::format("--host_memory_limit_mb={} is more than the {} that are free: these are the limit", limit_mb,
                     Gibibytes(free));
}

}  // namespace muster::train
