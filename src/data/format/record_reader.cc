#include "data/format/record_reader.h"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "data/format/coding.h"
#include "data/format/crc32c.h"
#include "data/format/record_layout.h"
#include "muster/error.h"

namespace muster::data {
namespace {

constexpr size_t kEnoughUnpacked = size_t{64} << 10;
// a record grows by so much while it is read, not by what its header claims
constexpr uint64_t kPiece = uint64_t{4} << 20;

// A record may begin with the bytes that announce gzip or zlib, so the checksum of its length is asked first.
Packing AnnouncedPacking(std::span<const uint8_t> head) {
  const size_t got = head.size();
  if (got == kRecordHeaderBytes && HeaderIsRight(reinterpret_cast<const char*>(head.data()))) return Packing::kNone;
  if (got >= 2 && head[0] == 0x1f && head[1] == 0x8b) return Packing::kGzip;
  const bool is_zlib = got >= 2 && (head[0] & 0x0f) == 8 && (head[0] * 256 + head[1]) % 31 == 0;  // RFC 1950, 2.2
  return is_zlib ? Packing::kZlib : Packing::kNone;
}

// Whether all is as gzip's header has it (RFC 1952, 2.3.1): method and reserved flags, how hard the packer tried and
// its system. A length with a damaged checksum behind it hardly ever looks like that.
bool IsGzipHeader(std::span<const uint8_t> head) {
  if (head.size() < 10 || head[0] != 0x1f || head[1] != 0x8b) return false;
  const uint8_t method = head[2], flags = head[3], extra = head[8], system = head[9];
  return method == 8 && (flags & 0xe0) == 0 && (extra == 0 || extra == 2 || extra == 4) &&
         (system <= 13 || system == 255);
}

// Whether the first record comes out right, or else a good deal of anything.
bool CanBeUnpacked(const std::filesystem::path& path, Packing packing) try {
  UnpackingFile file(path, packing);
  uint8_t head[kRecordHeaderBytes];
  if (file.Read(head) == sizeof head && !HeaderIsRight(reinterpret_cast<const char*>(head))) {
    std::vector<uint8_t> more(kEnoughUnpacked);
    file.Read(more);
  }
  return true;
} catch (const Error& error) {
  if (error.code() != Code::kDataLoss) throw;
  return false;
}

// The checksum of that length may be damaged, too. Then the upper half of the length is 0, as it never is in a zlib
// stream, and nothing can be unpacked. That holds for a gzip file without a time (gzip -n) that is damaged at its
// beginning, too: its header tells.
Packing PackingOf(const std::filesystem::path& path) {
  uint8_t head[kRecordHeaderBytes] = {};
  const size_t got = UnpackingFile(path, Packing::kNone).Read(head);
  const Packing announced = AnnouncedPacking({head, got});
  const bool may_be_length = got == sizeof head && LoadFixed<uint64_t>(reinterpret_cast<const char*>(head)) >> 32 == 0;
  if (announced == Packing::kNone || !may_be_length || IsGzipHeader({head, got}) || CanBeUnpacked(path, announced))
    return announced;
  return Packing::kNone;
}

}  // namespace

RecordReader::RecordReader(std::filesystem::path path) : file_(path, PackingOf(path)) {}

std::string RecordReader::Where() const {
  return fmt::format("{}: record {} at byte {}", path().string(), index_, offset_);
}

void RecordReader::Lose(const std::string& what) {
  is_lost_ = true;
  throw DataLoss(fmt::format("{}: {}", Where(), what));
}

size_t RecordReader::Fill(char* out, size_t size) try {
  return file_.Read({reinterpret_cast<uint8_t*>(out), size});
} catch (const Error&) {
  is_lost_ = true;  // damage of the packing: there is no way past it
  throw;
}

bool RecordReader::Next(std::string* record) {
  record->clear();
  if (is_lost_) return false;
  offset_ = file_.offset();
  ++index_;
  char header[kRecordHeaderBytes];
  const size_t got = Fill(header, sizeof header);
  if (got == 0) {
    --index_;
    return false;
  }
  if (got < sizeof header)
    Lose(fmt::format("the file ends {} bytes into the record's header of {}", got, sizeof header));
  if (!HeaderIsRight(header))
    Lose("the checksum of the record's length is wrong; where the next record begins is not known");
  const auto length = LoadFixed<uint64_t>(header);
  if (admits_ && !admits_(length)) {
    is_lost_ = true;
    const char* hint = is_packed() ? "; unpack the files on disk (gunzip) first" : "";
    throw Error(
        Code::kResourceExhausted,
        fmt::format("{}: the record of {} bytes does not fit into the memory that is left{}", Where(), length, hint));
  }
  while (record->size() < length) {
    const size_t had = record->size(), piece = std::min(length - had, kPiece);
    record->resize(had + piece);
    const size_t filled = Fill(record->data() + had, piece);
    if (filled < piece) Lose(fmt::format("the file ends {} bytes into the record of {}", had + filled, length));
  }
  char stored[sizeof(uint32_t)];
  if (Fill(stored, sizeof stored) < sizeof stored) Lose("the file ends before the record's checksum");
  if (LoadFixed<uint32_t>(stored) != MaskCrc(Crc32c(*record)))
    throw DataLoss(fmt::format("{}: the checksum of its {} bytes is wrong", Where(), length));
  return true;
}

}  // namespace muster::data
