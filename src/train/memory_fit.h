#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/session.h"

namespace muster::train {

// What a program needs of one memory, and what there is: a device's own, or the host's, which CPU devices and simulated
// cards share.
struct MemoryNeed {
  std::string where;  // "/device:GPU:0", "the host"
  int64_t bytes = 0;
  int64_t limit = 0;
  int64_t exchange_bytes = 0;  // part of "bytes": buffers for values from other devices
  bool is_on_host = false;     // a simulated card's memory, which the host's need contains
};
using MemoryNeeds = std::vector<MemoryNeed>;

// The needs of one plan, those of devices with limits of their own before the host's, which is left out if "host_limit"
// is 0.
MemoryNeeds NeedsOf(const PlanStats& stats, const std::vector<DeviceInfo>& devices, int64_t host_limit);
// The needs of several plans of one session at a time: they share the variables.
MemoryNeeds NeedsOf(const std::vector<const PlanStats*>& plans, const std::vector<DeviceInfo>& devices,
                    int64_t host_limit);

// For each memory the larger of two needs of one session.
MemoryNeeds Larger(MemoryNeeds a, const MemoryNeeds& b);
// The needs of a session that gives the graph's variables their first values and then keeps these plans. The plan of
// the first values is compiled too, where it might need more than the others.
MemoryNeeds NeedsOf(Session& session, const Graph& graph, const std::vector<const PlanStats*>& plans,
                    int64_t host_limit);

bool Fits(const MemoryNeeds& needs);
// Bytes of the host among needs that have it.
int64_t HostBytes(const MemoryNeeds& needs);

// The needs of a program with so many images per device and step; compiles, but allocates nothing.
using PlanMemory = std::function<MemoryNeeds(int64_t batch_size)>;

// The largest batch that fits, at most "most"; 0 if not one image does. Plans a few batches, beginning with "start",
// each where the line through the last two crosses the limit: memory grows linearly with the batch but for a little
// rounding. The answer was planned, and so was the batch above it.
int64_t LargestBatch(int64_t start, int64_t most, const PlanMemory& plan);

// How a program that does not fit can be told what would.
struct FitQuestion {
  std::string_view flag = "batch_size";  // whose value the batch is
  int64_t batch_size = 0;
  PlanMemory plan;
  int64_t first_batch = 0;  // to plan first if "needs" is only a guess from below; 0: they were planned
  // The same with as much recomputation as helps; empty if there is none to gain.
  PlanMemory plan_recomputed = nullptr;
  // The same with as much as is needed, by which a promise is checked; empty: plan_recomputed.
  PlanMemory plan_to_fit = nullptr;
  std::string_view exchange_flags = "--variable_update";  // what changes how much other devices send
};

// Throws Error{ResourceExhausted} if "needs", those of the question's batch, do not fit: one line with what is needed
// and had where it is tightest, the largest batch that fits, and what else would help.
void CheckFits(const MemoryNeeds& needs, const FitQuestion& question);

// What recomputation adds to each step, for people; "" if it adds nothing.
std::string RecomputeNote(const PlanStats& stats);

// What this process may still take of the host's memory for plans: what is free in the machine or its control group
// less a little for everything else that it does, and at least one byte. "limit_mb" is a smaller limit that the user
// gave, 0 for none.
int64_t HostMemoryLimit(int64_t limit_mb = 0);
// For the search of the largest batch, whose answer must still fit when it is run: the same limit in MiB, but a 32nd of
// what is free is left to other programs, which come and go.
int64_t SparingHostLimitMb(int64_t limit_mb);
// For people: that the user's limit is above what is free, so that this is the limit; "" if it is not.
std::string HostLimitNote(int64_t limit_mb);

}  // namespace muster::train
