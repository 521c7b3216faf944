#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "muster/graph.h"

namespace muster {

// Where each variable of a graph lives: device, layout and offset in its device's variable region. Trainable variables
// lie side by side in creation order, and so do the slots of one kind, so that one update step can sweep over all of
// them. Plain data, guarded by the session's lock.
class VariableTable {
 public:
  struct Entry {
    NodeId node = kNoNode;
    std::string name;
    TensorDesc desc;  // with the layout in force
    int device = 0;
    bool is_placed = false;  // device is final
    int chunk = -1;          // allocation that holds it; -1 until allocated
    int64_t offset = 0;      // bytes within the chunk
    bool layout_chosen = false;
  };

  // Takes in variables that the graph gained since the last call.
  void Update(const Graph& graph);
  int IndexOf(NodeId node) const;  // -1 if the node is no variable
  const Entry& entry(int index) const { return entries_[static_cast<size_t>(index)]; }
  Entry& mutable_entry(int index) { return entries_[static_cast<size_t>(index)]; }
  int size() const { return static_cast<int>(entries_.size()); }

  // Entry numbers in the order in which memory is laid out, and the place of an entry there.
  const std::vector<int>& memory_order() const { return memory_order_; }
  int position(int index) const { return position_[static_cast<size_t>(index)]; }
  // The entries of each device, 0 to num_devices - 1, in the order of memory.
  std::vector<std::vector<int>> ByDevice(int num_devices) const;
  // Bytes of these entries side by side, each aligned.
  int64_t BytesOf(const std::vector<int>& indices) const;
  // Gives these entries offsets in the given chunk number.
  void AssignOffsets(const std::vector<int>& indices, int chunk);

  // Rises when a variable moves; plans compiled before must be compiled again.
  int version = 0;

 private:
  void Sort(const Graph& graph);

  std::vector<Entry> entries_;
  std::vector<int> memory_order_;
  std::vector<int> position_;  // by entry
  std::unordered_map<NodeId, int> index_;
};

inline constexpr int64_t kValueAlignment = 64;
inline int64_t AlignUp(int64_t bytes) { return (bytes + kValueAlignment - 1) / kValueAlignment * kValueAlignment; }

}  // namespace muster
