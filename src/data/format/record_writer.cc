#include "data/format/record_writer.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "data/format/record_layout.h"
#include "muster/error.h"

namespace muster::data {

// zlib's state; packed bytes go to the file as they come.
class Deflater {
 public:
  explicit Deflater(Packing packing) {
    constexpr int kMemoryLevel = 8;  // zlib's default
    const int window = packing == Packing::kZlib ? MAX_WBITS : 16 + MAX_WBITS;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
      throw OutOfMemory("no memory for packing", "");
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  void Put(std::string_view bytes, int flush, OutputFile* file) {
    do {
      const size_t piece = std::min<size_t>(bytes.size(), std::numeric_limits<uInt>::max());
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream_.avail_in = static_cast<uInt>(piece);
      bytes.remove_prefix(piece);
      do {
        char packed[16384];
        stream_.next_out = reinterpret_cast<Bytef*>(packed);
        stream_.avail_out = sizeof packed;
        MUSTER_CHECK(deflate(&stream_, flush) != Z_STREAM_ERROR);
        file->Append({packed, sizeof packed - stream_.avail_out});
      } while (stream_.avail_out == 0);
    } while (!bytes.empty());
  }

 private:
  z_stream stream_{};
};

RecordWriter::RecordWriter(const std::string& path, Packing packing, OutputFile::Mode mode) : file_(path, mode) {
  if (packing == Packing::kGzip || packing == Packing::kZlib) deflater_ = std::make_unique<Deflater>(packing);
}

RecordWriter::~RecordWriter() = default;

void RecordWriter::Put(std::string_view bytes) {
  if (deflater_ != nullptr) {
    deflater_->Put(bytes, Z_NO_FLUSH, &file_);
  } else {
    file_.Append(bytes);
  }
}

void RecordWriter::Append(std::string_view record) {
  std::string header, trailer;
  AppendFixed64(&header, record.size());
  AppendFixed32(&header, MaskCrc(Crc32c(header)));
  AppendFixed32(&trailer, MaskCrc(Crc32c(record)));
  Put(header);
  Put(record);
  Put(trailer);
}

void RecordWriter::Close() {
  if (deflater_ != nullptr) deflater_->Put("", Z_FINISH, &file_);
  file_.Close();
}

}  // namespace muster::data
