#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::data {

// LevelDB's table format (its doc/table_format.md), which TensorFlow keeps the index of a checkpoint in: sorted keys
// with values in blocks, each with a CRC; an index block; a footer. Written here so that every damage can be told with
// its place in the file; an index is small, so it is held in memory whole.

struct TableEntry {
  std::string key;
  std::string value;
  int64_t block_offset = 0;  // where in the file the block with this entry begins
};

// All entries of a table, keys rising. "name" stands for the file in messages. Throws DataLoss naming the byte if the
// table is cut off, a checksum is wrong or an entry cannot be; Unimplemented if it is compressed.
std::vector<TableEntry> ParseTable(const std::string& name, std::string_view file);

// Compares the checksum of the block that ParseTable, as LevelDB, does not read: it describes filters, and there are
// none.
void VerifyMetaBlock(const std::string& name, std::string_view file);

// Makes a table; byte for byte what LevelDB makes of the same entries with TensorFlow's settings: no compression,
// blocks of 256 KiB, a whole key every 16 entries.
class TableBuilder {
 public:
  // Keys must rise.
  void Add(std::string_view key, std::string_view value);
  // The whole file. Nothing may be added afterwards.
  std::string Finish();

 private:
  // Entries whose keys leave out what they share with the key before.
  class Block {
   public:
    explicit Block(int restart_interval) : restart_interval_(restart_interval) {}
    void Add(std::string_view key, std::string_view value);
    std::string Finish();  // and begins anew
    size_t size() const { return bytes_.size() + 4 * restarts_.size() + 4; }
    bool is_empty() const { return bytes_.empty(); }

   private:
    int restart_interval_;
    std::string bytes_;
    std::vector<uint32_t> restarts_ = {0};
    int since_restart_ = 0;
    std::string last_key_;
  };

  std::string Append(std::string block);  // returns its handle
  void EndBlock(std::string_view next_key, bool is_last);

  std::string file_;
  Block data_{16};
  Block index_{1};
  std::string last_key_;
};

}  // namespace muster::data
