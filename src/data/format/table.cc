#include "data/format/table.h"

#include <fmt/format.h>

#include "data/format/coding.h"
#include "data/format/crc32c.h"
#include "data/format/table_layout.h"
#include "muster/error.h"

namespace muster::data {
namespace {

// Keys leave out what they share with the one before, so a small file could stand for endless keys.
constexpr size_t kMostKeyBytes = size_t{1} << 30;

class TableParser {
 public:
  TableParser(const std::string& name, std::string_view file) : name_(name), file_(file) {}

  std::vector<TableEntry> Parse() {
    std::vector<TableEntry> index, entries;
    ParseBlock(ReadFooter().index, "the index block", &index);
    uint64_t read_to = 0;  // no byte is read twice, or a small file could name one block endlessly often
    for (const TableEntry& entry : index) {
      std::string_view bytes = entry.value;
      Handle handle;
      if (!TakeHandle(&bytes, &handle) || !bytes.empty())
        throw Broken(entry.block_offset, "the index block holds an entry that names no block");
      if (handle.offset < read_to)
        throw Broken(static_cast<int64_t>(handle.offset), "a block begins inside the one before it");
      ParseBlock(handle, "the block", &entries);
      read_to = handle.offset + handle.size + kBlockTrailerBytes;
    }
    return entries;
  }

  void VerifyMeta() const { ReadBlock(ReadFooter().meta, "the meta block"); }

 private:
  struct Handle {
    uint64_t offset = 0, size = 0;
  };
  struct Footer {
    Handle meta, index;
  };

  Error Broken(int64_t offset, std::string_view what) const {
    return DataLoss(fmt::format("{}: at byte {}: {}", name_, offset, what));
  }

  static bool TakeHandle(std::string_view* bytes, Handle* handle) {
    return TakeVarint(bytes, &handle->offset) && TakeVarint(bytes, &handle->size);
  }

  Footer ReadFooter() const {
    if (file_.size() < kFooterBytes)
      throw DataLoss(fmt::format("{}: has {} bytes; an index has at least {}: it was cut off, or is no index", name_,
                                 file_.size(), kFooterBytes));
    const size_t at = file_.size() - kFooterBytes;
    std::string_view bytes = file_.substr(at);
    if (LoadFixed<uint64_t>(bytes.data() + kFooterBytes - sizeof kTableMagic) != kTableMagic)
      throw Broken(static_cast<int64_t>(file_.size() - sizeof kTableMagic),
                   "the number that ends every index is not there: it was cut off, or is no index");
    Footer footer;
    if (!TakeHandle(&bytes, &footer.meta) || !TakeHandle(&bytes, &footer.index))
      throw Broken(static_cast<int64_t>(at), "the footer names no index block");
    return footer;
  }

  // The contents of a block whose checksum is right.
  std::string_view ReadBlock(const Handle& handle, std::string_view what) const {
    const uint64_t end = file_.size() - kFooterBytes;
    if (handle.offset > end || handle.size > end - handle.offset ||
        end - handle.offset - handle.size < kBlockTrailerBytes)
      throw DataLoss(fmt::format("{}: {} of {} bytes at byte {} would reach beyond byte {}, where the blocks end",
                                 name_, what, handle.size, handle.offset, end));
    const std::string_view block = file_.substr(handle.offset, handle.size + 1);  // the kind is under the checksum
    const auto stored = LoadFixed<uint32_t>(block.data() + block.size());
    if (MaskCrc(Crc32c(block)) != stored)
      throw Broken(
          static_cast<int64_t>(handle.offset),
          fmt::format("{} of {} bytes that begins here does not have the checksum noted for it", what, handle.size));
    if (block.back() != kPlainBlock)
      throw Unimplemented(fmt::format("{}: at byte {}: the block is compressed (kind {}), which TensorFlow does not do",
                                      name_, handle.offset, static_cast<int>(block.back())));
    return block.substr(0, handle.size);
  }

  // Appends a block's entries. Between them and the block's end stand the offsets of whole keys, which only searching
  // needs.
  void ParseBlock(const Handle& handle, std::string_view what, std::vector<TableEntry>* entries) {
    std::string_view block = ReadBlock(handle, what);
    const auto begin = static_cast<int64_t>(handle.offset);
    if (block.size() < 4) throw Broken(begin, "the block is too short");
    const uint64_t restarts = LoadFixed<uint32_t>(block.data() + block.size() - 4);
    if (restarts > (block.size() - 4) / 4) throw Broken(begin, "the block is too short for its restart points");
    std::string_view rest = block.substr(0, block.size() - 4 - 4 * restarts);
    const size_t all = rest.size();
    std::string key;
    while (!rest.empty()) {
      const int64_t at = begin + static_cast<int64_t>(all - rest.size());
      uint64_t shared = 0, own = 0, value_size = 0;
      std::string_view own_key, value;
      const bool whole = TakeVarint(&rest, &shared) && TakeVarint(&rest, &own) && TakeVarint(&rest, &value_size) &&
                         TakeBytes(&rest, own, &own_key) && TakeBytes(&rest, value_size, &value) &&
                         shared <= key.size();
      if (!whole) throw Broken(at, "the entry reaches beyond its block");
      std::string next = key.substr(0, shared).append(own_key);
      key_bytes_ += next.size();
      if (key_bytes_ > kMostKeyBytes) throw Broken(at, "the keys of the table would take more than 1 GiB");
      if (!entries->empty() && next <= entries->back().key) throw Broken(at, "the key is not above the one before it");
      key = next;
      entries->push_back({std::move(next), std::string(value), begin});
    }
  }

  const std::string& name_;
  std::string_view file_;
  size_t key_bytes_ = 0;
};

}  // namespace

std::vector<TableEntry> ParseTable(const std::string& name, std::string_view file) {
  return TableParser(name, file).Parse();
}

void VerifyMetaBlock(const std::string& name, std::string_view file) { TableParser(name, file).VerifyMeta(); }

}  // namespace muster::data
