#pragma once

#include <vector>

#include "plan/plan.h"
#include "plan/variable_table.h"

namespace muster {

// Bytes [begin, end) of one block of a partition's memory that a step reads or writes.
struct BlockAccess {
  int block = 0;  // see MemoryBlocks
  int64_t begin = 0, end = 0;
  bool is_write = false;
};

// Numbers the blocks of memory that a plan's places lie in, and says what each step touches there. Constants and feeds,
// which nothing writes, are left out. The variable table must not change meanwhile.
class MemoryBlocks {
 public:
  MemoryBlocks(const Plan& plan, const VariableTable& variables);

  // A send reads its value here and writes it on the receiver; a receive touches nothing. Reads come before writes.
  std::vector<BlockAccess> AccessesOf(int partition, const Step& step) const;
  BlockAccess AccessTo(int partition, const Place& place, int64_t bytes, bool is_write) const;
  int num_blocks() const { return num_blocks_; }

 private:
  const Plan& plan_;
  const VariableTable& variables_;
  std::vector<int64_t> variable_offsets_;  // by entry: in its chunk, or where it will be if it has none yet
  std::vector<int> first_block_;           // by partition
  int first_chunk_ = 0;                    // of variables
  int num_blocks_ = 0;
};

}  // namespace muster
