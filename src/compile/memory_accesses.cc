#include "compile/memory_accesses.h"

#include <algorithm>

#include "graph/op_def.h"

namespace muster {
namespace {

// Blocks of a partition: one of each of these, then the separate allocations. Chunks of variables, each of which is one
// device's, follow those of all partitions.
enum Block { kArenaBlock, kGradientBlock, kChannelBlock, kNewVariables, kFirstSeparate };

}  // namespace

MemoryBlocks::MemoryBlocks(const Plan& plan, const VariableTable& variables)
    : plan_(plan), variables_(variables), variable_offsets_(static_cast<size_t>(variables.size())) {
  int num_chunks = 0;
  std::vector<int64_t>
      next;  // by device: where a variable without memory will lie, as VariableTable::AssignOffsets lays it
  for (int index : variables.memory_order()) {
    const VariableTable::Entry& e = variables.entry(index);
    num_chunks = std::max(num_chunks, e.chunk + 1);
    next.resize(std::max(next.size(), static_cast<size_t>(e.device) + 1), 0);
    int64_t& offset = next[static_cast<size_t>(e.device)];
    variable_offsets_[static_cast<size_t>(index)] = e.chunk >= 0 ? e.offset : offset;
    if (e.chunk < 0) offset += AlignUp(e.desc.byte_size());
  }
  for (const Partition& p : plan.partitions) {
    first_block_.push_back(num_blocks_);
    num_blocks_ += kFirstSeparate + static_cast<int>(p.separate_bytes.size());
  }
  first_chunk_ = num_blocks_;
  num_blocks_ += num_chunks;
}

BlockAccess MemoryBlocks::AccessTo(int partition, const Place& place, int64_t bytes, bool is_write) const {
  int block = first_block_[static_cast<size_t>(partition)];
  int64_t begin = place.offset;
  switch (place.region) {
    case Region::kNone:
    case Region::kConstant:
    case Region::kFeed: return {-1, 0, 0, is_write};
    case Region::kArena: block += kArenaBlock; break;
    case Region::kGradient: block += kGradientBlock; break;
    case Region::kChannel: block += kChannelBlock; break;
    case Region::kVariable:
      block = variables_.entry(place.index).chunk < 0 ? block + kNewVariables
                                                      : first_chunk_ + variables_.entry(place.index).chunk;
      begin += variable_offsets_[static_cast<size_t>(place.index)];
      break;
    case Region::kSeparate: block += kFirstSeparate + place.index; break;
  }
  return {block, begin, begin + bytes, is_write};
}

std::vector<BlockAccess> MemoryBlocks::AccessesOf(int partition, const Step& step) const {
  std::vector<BlockAccess> accesses;
  const auto add = [&](int owner, const Place& place, int64_t bytes, bool is_write) {
    const BlockAccess access = AccessTo(owner, place, bytes, is_write);
    if (access.block >= 0 && bytes > 0) accesses.push_back(access);
  };
  if (step.recv_channel >= 0) return accesses;
  for (size_t i = 0; i < step.inputs.size(); ++i)
    add(partition, step.inputs[i], step.input_descs[i].byte_size(), false);
  for (int i = 0; i < GetOpDef(step.kind).num_refs; ++i)
    add(partition, step.inputs[static_cast<size_t>(i)], step.input_descs[static_cast<size_t>(i)].byte_size(), true);
  for (size_t i = 0; i < step.outputs.size(); ++i)
    add(partition, step.outputs[i], step.output_descs[i].byte_size(), true);
  add(partition, step.workspace, step.workspace_bytes, true);
  if (step.send_channel >= 0) {
    const ChannelSpec& channel = plan_.channels[static_cast<size_t>(step.send_channel)];
    add(channel.to, channel.place, channel.desc.byte_size(), true);
  }
  return accesses;
}

}  // namespace muster
