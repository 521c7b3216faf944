#include "data/format/record_scan.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "data/format/record_layout.h"

namespace muster::data {
namespace {

constexpr size_t kFooterBytes = sizeof(uint32_t);
constexpr size_t kWindow = size_t{1} << 20;  // bytes that are searched at a time

// The bytes of the record whose header is right at "offset". False: they do not fit into the file, or their checksum is
// wrong.
enum class Content { kWhole, kCut, kDamaged };
Content ReadContent(const InputFile& file, int64_t offset, uint64_t length, std::string* bytes) {
  const auto left = static_cast<uint64_t>(file.size() - offset) - kRecordHeaderBytes;
  if (left < kFooterBytes || length > left - kFooterBytes) return Content::kCut;
  bytes->resize(length + kFooterBytes);
  if (file.ReadAt(offset + static_cast<int64_t>(kRecordHeaderBytes), *bytes) < bytes->size()) return Content::kCut;
  const auto stored = LoadFixed<uint32_t>(bytes->data() + length);
  bytes->resize(length);
  return stored == MaskCrc(Crc32c(*bytes)) ? Content::kWhole : Content::kDamaged;
}

// The first place from "begin" on where a whole record lies.
std::optional<int64_t> FindRecord(const InputFile& file, int64_t begin) {
  std::string window(kWindow + kRecordHeaderBytes - 1, '\0'), bytes;
  for (; begin < file.size(); begin += static_cast<int64_t>(kWindow)) {
    ThrowIfInterrupted();
    const size_t got = file.ReadAt(begin, window);
    for (size_t i = 0; i < kWindow && i + kRecordHeaderBytes <= got; ++i) {
      if (!HeaderIsRight(window.data() + i)) continue;
      const int64_t at = begin + static_cast<int64_t>(i);
      if (ReadContent(file, at, LoadFixed<uint64_t>(window.data() + i), &bytes) == Content::kWhole) return at;
    }
  }
  return std::nullopt;
}

}  // namespace

void ScanRecords(const InputFile& file, const std::function<void(const ScannedRecord&)>& found) {
  ScannedRecord record;
  for (int64_t next = 0; record.offset < file.size(); record.offset = next, ++record.number) {
    ThrowIfInterrupted();
    record.bytes.clear();
    record.damage.clear();
    char header[kRecordHeaderBytes];
    const size_t got = file.ReadAt(record.offset, header);
    if (got < sizeof header) {
      record.damage = fmt::format("the file ends {} bytes into the record's header of {}", got, sizeof header);
      return found(record);
    }
    if (!HeaderIsRight(header)) {
      next = FindRecord(file, record.offset + 1).value_or(file.size());
      record.damage =
          fmt::format("the checksum of the record's length is wrong; {} bytes up to {} are lost", next - record.offset,
                      next == file.size() ? "the end of the file" : fmt::format("the record at byte {}", next));
      found(record);
      continue;
    }
    const auto length = LoadFixed<uint64_t>(header);
    const Content content = ReadContent(file, record.offset, length, &record.bytes);
    next = content == Content::kCut ? file.size()
                                    : record.offset + static_cast<int64_t>(sizeof header + length + kFooterBytes);
    if (content == Content::kCut)
      record.damage = fmt::format("the file ends {} bytes into the record of {}",
                                  file.size() - record.offset - static_cast<int64_t>(sizeof header), length);
    if (content == Content::kDamaged) record.damage = fmt::format("the checksum of its {} bytes is wrong", length);
    if (!record.damage.empty()) record.bytes.clear();
    found(record);
  }
}

}  // namespace muster::data
