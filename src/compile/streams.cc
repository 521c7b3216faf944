// Kernels run on their device's compute stream, copies to other devices on copy streams. Between two streams, what
// touches the same memory (and does not only read it) keeps the order of the plan: the later step waits for an event
// behind the earlier one, but where waits that are there already imply it. Vector clocks say what they imply.

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/check.h"
#include "compile/memory_accesses.h"
#include "compile/passes.h"
#include "memory/access_history.h"

namespace muster {
namespace {

// Where a send runs: on the sender's stream towards the receiver, or on the receiver's copy-in stream if the sender is
// a host.
StreamSpec StreamOfSend(const Partition& from, const Partition& to, const CompileRequest& request) {
  const bool from_asynchronous = request.devices[static_cast<size_t>(from.device_index)].is_asynchronous;
  const bool to_asynchronous = request.devices[static_cast<size_t>(to.device_index)].is_asynchronous;
  if (from_asynchronous) return {from.device_index, to_asynchronous ? StreamKind::kExchange : StreamKind::kCopyOut};
  if (to_asynchronous) return {to.device_index, StreamKind::kCopyIn};
  return {from.device_index, StreamKind::kCompute};
}

void ChooseStreams(Plan& plan, const CompileRequest& request) {
  for (Partition& p : plan.partitions) {
    p.streams = {{p.device_index, StreamKind::kCompute}};
    for (Step& step : p.steps) {
      if (step.send_channel < 0) continue;
      const ChannelSpec& channel = plan.channels[static_cast<size_t>(step.send_channel)];
      const StreamSpec wanted = StreamOfSend(p, plan.partitions[static_cast<size_t>(channel.to)], request);
      const auto it = std::find(p.streams.begin(), p.streams.end(), wanted);
      step.stream = static_cast<int>(it - p.streams.begin());
      if (it == p.streams.end()) p.streams.push_back(wanted);
    }
  }
}

class WaitFinder {
 public:
  WaitFinder(Plan& plan, const VariableTable& variables)
      : plan_(plan),
        blocks_(plan, variables),
        histories_(static_cast<size_t>(blocks_.num_blocks())),
        next_(plan.partitions.size(), 0),
        is_sent_(plan.channels.size(), false),
        waiting_(plan.channels.size(), -1) {
    int num_lanes = 0;
    for (const Partition& p : plan_.partitions) {
      first_lane_.push_back(num_lanes);
      num_lanes += static_cast<int>(p.streams.size());
    }
    clocks_.assign(static_cast<size_t>(num_lanes), std::make_shared<const Clock>(static_cast<size_t>(num_lanes), 0));
    times_.assign(static_cast<size_t>(num_lanes), 0);
    FindSharedBlocks();
  }

  // Visits all partitions' steps in an order in which each receive comes after its send: one partition after the other,
  // round and round, each as far as it gets.
  void Run() {
    std::set<size_t> ready;
    for (size_t p = 0; p < next_.size(); ++p) ready.insert(p);
    for (auto it = ready.begin(); it != ready.end();) {
      const size_t p = *it;
      ready.erase(it);
      Advance(p, &ready);
      it = ready.upper_bound(p);
      if (it == ready.end()) it = ready.begin();
    }
    for (size_t p = 0; p < next_.size(); ++p) MUSTER_CHECK(next_[p] == plan_.partitions[p].steps.size());
  }

 private:
  using Clock = std::vector<uint32_t>;  // by lane, a stream of a partition: how far it is known to be done
  struct Done {
    Step* step;
    int partition, lane;
    uint32_t time;  // on its lane
    std::shared_ptr<const Clock> clock;
  };

  // Visits a partition's steps up to a receive of what is not sent yet; "ready" gains the partitions that can go on.
  void Advance(size_t p, std::set<size_t>* ready) {
    std::vector<Step>& steps = plan_.partitions[p].steps;
    for (; next_[p] < steps.size(); ++next_[p]) {
      Step& step = steps[next_[p]];
      ++plan_.compile_work;
      if (step.recv_channel >= 0 && !is_sent_[static_cast<size_t>(step.recv_channel)]) {
        waiting_[static_cast<size_t>(step.recv_channel)] = static_cast<int>(p);
        return;
      }
      Visit(static_cast<int>(p), step);
      if (step.send_channel < 0) continue;
      is_sent_[static_cast<size_t>(step.send_channel)] = true;
      if (const int receiver = waiting_[static_cast<size_t>(step.send_channel)]; receiver >= 0)
        ready->insert(static_cast<size_t>(receiver));
    }
  }

  // Blocks that only one lane touches cannot conflict.
  void FindSharedBlocks() {
    is_shared_.assign(static_cast<size_t>(blocks_.num_blocks()), false);
    std::vector<int> lane_of(is_shared_.size(), -1);
    for (size_t p = 0; p < plan_.partitions.size(); ++p)
      for (const Step& step : plan_.partitions[p].steps)
        for (const BlockAccess& access : blocks_.AccessesOf(static_cast<int>(p), step)) {
          int& lane = lane_of[static_cast<size_t>(access.block)];
          const int this_lane = first_lane_[p] + step.stream;
          if (lane >= 0 && lane != this_lane) is_shared_[static_cast<size_t>(access.block)] = true;
          lane = this_lane;
        }
  }

  void Visit(int partition, Step& step) {
    if (step.recv_channel >= 0) return;  // the value's readers wait for the copy
    const int lane = first_lane_[static_cast<size_t>(partition)] + step.stream;
    std::vector<BlockAccess> accesses = blocks_.AccessesOf(partition, step);
    std::erase_if(accesses, [&](const BlockAccess& access) { return !is_shared_[static_cast<size_t>(access.block)]; });
    WaitFor(Needed(lane, accesses), lane, step);
    const AccessHistory::Access now{lane, ++times_[static_cast<size_t>(lane)], static_cast<uint32_t>(done_.size())};
    for (const BlockAccess& access : accesses)
      histories_[static_cast<size_t>(access.block)].Enter(now, static_cast<uintptr_t>(access.begin),
                                                          static_cast<uintptr_t>(access.end), access.is_write);
    if (!accesses.empty())
      done_.push_back({&step, partition, lane, times_[static_cast<size_t>(lane)], clocks_[static_cast<size_t>(lane)]});
  }

  // The steps that these accesses must come after and do not yet: of each lane the last.
  std::vector<uint32_t> Needed(int lane, const std::vector<BlockAccess>& accesses) {
    const Clock& clock = *clocks_[static_cast<size_t>(lane)];
    std::map<int, AccessHistory::Access> last;
    for (const BlockAccess& access : accesses)
      histories_[static_cast<size_t>(access.block)].VisitConflicts(
          static_cast<uintptr_t>(access.begin), static_cast<uintptr_t>(access.end), access.is_write,
          [&](const AccessHistory::Access& earlier, bool) {
            ++plan_.compile_work;
            if (earlier.lane == lane || clock[static_cast<size_t>(earlier.lane)] >= earlier.time) return;
            AccessHistory::Access& of_lane = last[earlier.lane];
            if (of_lane.time < earlier.time) of_lane = earlier;
          });
    std::vector<uint32_t> needed;
    for (const auto& [of_lane, access] : last) needed.push_back(access.what);
    return needed;
  }

  // Waits for those that none of the others comes after.
  void WaitFor(const std::vector<uint32_t>& needed, int lane, Step& step) {
    if (needed.empty()) return;
    plan_.compile_work += static_cast<int64_t>(needed.size() * (1 + clocks_.size() / 16));
    // What is known once all have been waited for, but for themselves.
    auto joined = std::make_shared<Clock>(*clocks_[static_cast<size_t>(lane)]);
    for (uint32_t n : needed) {
      const Clock& clock = *done_[n].clock;
      for (size_t l = 0; l < joined->size(); ++l) (*joined)[l] = std::max((*joined)[l], clock[l]);
    }
    std::vector<const Done*> waits;
    for (uint32_t n : needed)
      if ((*joined)[static_cast<size_t>(done_[n].lane)] < done_[n].time) waits.push_back(&done_[n]);
    for (const Done* earlier : waits) {
      step.waits.push_back(EventBehind(*earlier));
      (*joined)[static_cast<size_t>(earlier->lane)] = earlier->time;
    }
    clocks_[static_cast<size_t>(lane)] = std::move(joined);
  }

  int EventBehind(const Done& done) {
    if (done.step->signals.empty()) {
      done.step->signals.push_back(static_cast<int>(plan_.events.size()));
      plan_.events.push_back({done.partition, done.step->stream});
    }
    return done.step->signals[0];
  }

  Plan& plan_;
  const MemoryBlocks blocks_;
  std::vector<bool> is_shared_;                       // by block
  std::vector<AccessHistory> histories_;              // by block; an access' "what" is its index in done_
  std::vector<int> first_lane_;                       // by partition
  std::vector<std::shared_ptr<const Clock>> clocks_;  // by lane; replaced when it waits, so that many steps share one
  std::vector<uint32_t> times_;                       // by lane
  std::vector<Done> done_;
  std::vector<size_t> next_;   // by partition: the first step not visited
  std::vector<bool> is_sent_;  // by channel
  std::vector<int> waiting_;   // by channel: the partition that gets no further than its receive
};

}  // namespace

void AssignStreams(Plan& plan, const CompileRequest& request) {
  ChooseStreams(plan, request);
  WaitFinder(plan, *request.variables).Run();
}

}  // namespace muster
