#include "base/check.h"
#include "data/format/coding.h"
#include "data/format/crc32c.h"
#include "data/format/table.h"
#include "data/format/table_layout.h"

namespace muster::data {
namespace {

constexpr size_t kBlockBytes = size_t{256} << 10;

size_t SharedLength(std::string_view a, std::string_view b) {
  size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

// A key k with a <= k < b that is short where one byte can make the difference, as LevelDB's index has it.
std::string ShortSeparator(const std::string& a, std::string_view b) {
  const size_t same = SharedLength(a, b);
  if (same >= a.size() || same >= b.size()) return a;
  const auto byte = static_cast<uint8_t>(a[same]);
  if (byte == 0xff || byte + 1 >= static_cast<uint8_t>(b[same])) return a;
  std::string key = a.substr(0, same + 1);
  key[same] = static_cast<char>(byte + 1);
  return key;
}

// A short key that is not below a.
std::string ShortSuccessor(const std::string& a) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (static_cast<uint8_t>(a[i]) == 0xff) continue;
    std::string key = a.substr(0, i + 1);
    key[i] = static_cast<char>(static_cast<uint8_t>(key[i]) + 1);
    return key;
  }
  return a;
}

}  // namespace

void TableBuilder::Block::Add(std::string_view key, std::string_view value) {
  size_t shared = 0;
  if (since_restart_ < restart_interval_) {
    shared = SharedLength(last_key_, key);
  } else {
    restarts_.push_back(static_cast<uint32_t>(bytes_.size()));
    since_restart_ = 0;
  }
  AppendVarint(&bytes_, shared);
  AppendVarint(&bytes_, key.size() - shared);
  AppendVarint(&bytes_, value.size());
  bytes_.append(key.substr(shared)).append(value);
  last_key_ = key;
  ++since_restart_;
}

std::string TableBuilder::Block::Finish() {
  for (const uint32_t restart : restarts_) AppendFixed32(&bytes_, restart);
  AppendFixed32(&bytes_, static_cast<uint32_t>(restarts_.size()));
  std::string block = std::move(bytes_);
  *this = Block(restart_interval_);
  return block;
}

std::string TableBuilder::Append(std::string block) {
  std::string handle;
  AppendVarint(&handle, file_.size());
  AppendVarint(&handle, block.size());
  block.push_back(kPlainBlock);
  AppendFixed32(&block, MaskCrc(Crc32c(block)));
  file_ += block;
  return handle;
}

void TableBuilder::EndBlock(std::string_view next_key, bool is_last) {
  const std::string handle = Append(data_.Finish());
  index_.Add(is_last ? ShortSuccessor(last_key_) : ShortSeparator(last_key_, next_key), handle);
}

void TableBuilder::Add(std::string_view key, std::string_view value) {
  MUSTER_CHECK(data_.is_empty() || key > last_key_);
  if (data_.size() >= kBlockBytes) EndBlock(key, false);
  data_.Add(key, value);
  last_key_ = key;
}

std::string TableBuilder::Finish() {
  if (!data_.is_empty()) EndBlock("", true);
  std::string footer = Append(Block(1).Finish());  // a block of nothing: LevelDB keeps filters there
  footer += Append(index_.Finish());
  footer.resize(kFooterBytes - sizeof kTableMagic);
  AppendFixed64(&footer, kTableMagic);
  return file_ + footer;
}

}  // namespace muster::data
