// The global order of the nodes on several devices. Two rules:
//
// Devices run side by side. What counts is about when a device will come to a node, not the number in the graph, in
// which one tower comes after the other: a node that waits for another at about the same time does not wait for a whole
// tower.
//
// Buckets are exchanged while the backward pass goes on. A Bucket is closed when its last gradient is there. What is
// made of it is put one bucket later for each device that it has passed: a sum behind the next Bucket, when the other
// devices' parts have probably arrived. So no device waits for another unless it is a bucket ahead.
#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "compile/cost.h"
#include "compile/passes.h"
#include "compile/phase.h"
#include "graph/op_def.h"

namespace muster {
namespace {

constexpr int64_t kSpacing = 1 << 20;  // of order for an estimated nanosecond; nodes that are put somewhere are 4 apart

class Scheduler {
 public:
  explicit Scheduler(CompileGraph& graph)
      : graph_(graph), order_(graph.TopologicalOrder()), slot_(static_cast<size_t>(graph.size()), -1) {}

  void Run() {
    CountPositions();
    if (next_.size() < 2) return;
    for (NodeId id : order_) graph_.set_order(id, position_[id]);
    CloseBuckets();
    for (NodeId id : order_) FindSlot(id);
    for (NodeId id : order_) PutBehindBucket(id);
    for (NodeId id : order_)
      for (Output in : graph_.node(id).inputs)
        if (SlotOf(id) >= 0) NoteReader(in.node, graph_.order(id));
    for (NodeId id : order_) MoveForward(id);
  }

 private:
  // Values that are there before the step are sent first. Positions stay in range whatever a batch would take, also one
  // that no memory holds: nothing has been refused yet.
  void CountPositions() {
    const double longest = static_cast<double>(std::numeric_limits<int64_t>::max() / kSpacing / 4) /
                           static_cast<double>(std::max<size_t>(order_.size(), 1));
    for (NodeId id : order_) {
      int64_t& next = next_[graph_.device(id)];
      if (IsSource(graph_.node(id).kind) && graph_.node(id).control_inputs.empty()) continue;
      const double seconds = GetOpDef(graph_.node(id).kind).is_alias ? 0 : EstimatedSeconds(graph_, graph_.node(id));
      position_[id] = next += kSpacing * (1 + static_cast<int64_t>(std::min(1e9 * seconds, longest)));
    }
  }

  int64_t LastInput(NodeId id) const {
    int64_t last = 0;
    for (Output in : graph_.node(id).inputs) last = std::max(last, graph_.order(in.node));
    return last;
  }

  // A sum that only finishes a gradient is made when its terms are there.
  void CloseBuckets() {
    for (NodeId id : order_) {
      if (graph_.node(id).kind != OpKind::kBucket) continue;
      for (Output in : graph_.node(id).inputs)
        if (const OpKind kind = graph_.node(in.node).kind;
            kind == OpKind::kAddN || kind == OpKind::kAdd || kind == OpKind::kMul)
          graph_.set_order(in.node, LastInput(in.node) + 1);
      graph_.set_order(id, LastInput(id) + 2);
      std::vector<int64_t>& closed = closed_[graph_.device(id)];
      slot_[static_cast<size_t>(id)] = static_cast<int>(closed.size());
      closed.push_back(std::max(graph_.order(id), closed.empty() ? 0 : closed.back()));
    }
  }

  // What comes of a bucket belongs to the slot of its latest input, and one more if it passed to another device.
  void FindSlot(NodeId id) {
    if (graph_.node(id).kind == OpKind::kBucket) return;
    int& slot = slot_[static_cast<size_t>(id)];
    for (Output in : graph_.node(id).inputs) {
      const int of_input = slot_[static_cast<size_t>(in.node)];
      if (of_input >= 0) slot = std::max(slot, of_input + (graph_.device(in.node) != graph_.device(id)));
    }
  }

  // Where slot number "slot" begins on a device.
  int64_t Begin(int device, int slot) const {
    const auto found = closed_.find(device);
    if (found == closed_.end()) return slot * kSpacing;
    const std::vector<int64_t>& closed = found->second;
    const int last = static_cast<int>(closed.size()) - 1;
    return slot <= last ? closed[static_cast<size_t>(slot)] : closed.back() + (slot - last) * kSpacing;
  }

  void PutBehindBucket(NodeId id) {
    if (graph_.node(id).kind == OpKind::kBucket || SlotOf(id) < 0) return;
    const int device = graph_.device(id), slot = SlotOf(id);
    graph_.set_order(id, Begin(device, slot) + (behind_[{device, slot}] += 4));
  }

  // What stands at the end though it needs no bucket: right before the update that reads it, or, reports and the like,
  // before the first update of all, so that updates can depend on what they say.
  void MoveForward(NodeId id) {
    const auto closed = closed_.find(graph_.device(id));
    if (closed == closed_.end() || SlotOf(id) >= 0) return;
    int64_t last = 0;  // a chain moves as a whole
    for (Output in : graph_.node(id).inputs)
      if (moved_.count(in.node) == 0) last = std::max(last, graph_.order(in.node));
    if (graph_.order(id) <= closed->second.back() || last >= closed->second.back()) return;
    moved_.insert(id);
    const auto reader = first_reader_.find(id);
    graph_.set_order(id,
                     reader != first_reader_.end() ? reader->second - 2 : std::max(closed->second.front(), last) + 3);
  }

  void NoteReader(NodeId value, int64_t order) {
    const auto [it, is_new] = first_reader_.emplace(value, order);
    if (!is_new) it->second = std::min(it->second, order);
  }

  int SlotOf(NodeId id) const { return slot_[static_cast<size_t>(id)]; }

  CompileGraph& graph_;
  const std::vector<NodeId> order_;
  std::map<int, int64_t> next_;  // by device: the position of its last node
  std::map<NodeId, int64_t> position_;
  std::map<int, std::vector<int64_t>>
      closed_;             // by device: behind which order each of its buckets is closed, ascending
  std::vector<int> slot_;  // by node; -1: no bucket comes before it
  std::map<std::pair<int, int>, int64_t> behind_;
  std::set<NodeId> moved_;                  // forward
  std::map<NodeId, int64_t> first_reader_;  // by node: the order of the first of its readers that come behind a bucket
};

}  // namespace

void ScheduleExchange(CompileGraph& graph) { Scheduler(graph).Run(); }

}  // namespace muster
