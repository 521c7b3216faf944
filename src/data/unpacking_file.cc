#include "data/unpacking_file.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "muster/error.h"

namespace muster::data {

// zlib's state and the packed bytes it has not consumed yet.
class Inflater {
 public:
  explicit Inflater(Packing packing) : packing_(packing), packed_(size_t{256} << 10) {
    const int window = packing == Packing::kZlib ? MAX_WBITS : 16 + MAX_WBITS;  // the latter: gzip only
    if (inflateInit2(&stream_, window) != Z_OK) throw OutOfMemory("no memory for unpacking", "");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  const char* format() const { return packing_ == Packing::kZlib ? "zlib" : "gzip"; }
  z_stream& stream() { return stream_; }
  std::span<uint8_t> packed() { return packed_; }
  // Packed bytes consumed by all members so far.
  int64_t consumed() const { return read_ - stream_.avail_in; }
  void SetInput(size_t size) {
    read_ += static_cast<int64_t>(size);
    stream_.next_in = packed_.data();
    stream_.avail_in = static_cast<uInt>(size);
  }

  bool between_members = true;  // a file may end here, and only here

 private:
  Packing packing_;
  z_stream stream_{};
  std::vector<uint8_t> packed_;
  int64_t read_ = 0;
};

UnpackingFile::UnpackingFile(std::filesystem::path path, Packing packing) : path_(std::move(path)) {
  std::error_code error;
  const auto status = std::filesystem::status(path_, error);
  if (status.type() == std::filesystem::file_type::not_found)
    throw NotFound(fmt::format("{}: no such file", path_.string()));
  if (status.type() == std::filesystem::file_type::directory)
    throw InvalidArgument(fmt::format("{}: is a folder; a file was expected", path_.string()));
  if (status.type() != std::filesystem::file_type::regular)
    throw InvalidArgument(fmt::format("{}: is not a regular file", path_.string()));
  file_size_ = static_cast<int64_t>(std::filesystem::file_size(path_, error));
  file_.open(path_, std::ios::binary);
  if (error || !file_)
    throw Error(Code::kPermissionDenied, fmt::format("{}: cannot be opened: {}", path_.string(), std::strerror(errno)));

  if (packing == Packing::kByMagic) {
    uint8_t magic[2] = {};
    packing = ReadRaw(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b ? Packing::kGzip : Packing::kNone;
    file_.clear();
    file_.seekg(0);
  }
  if (packing != Packing::kNone) inflater_ = std::make_unique<Inflater>(packing);
}

UnpackingFile::~UnpackingFile() = default;

int64_t UnpackingFile::max_content_bytes() const {
  constexpr int64_t kLargestRatio = 1032;  // zlib's technical notes: 258 bytes from two bits
  if (!is_packed()) return file_size_;
  return file_size_ > std::numeric_limits<int64_t>::max() / kLargestRatio ? std::numeric_limits<int64_t>::max()
                                                                          : file_size_ * kLargestRatio;
}

size_t UnpackingFile::ReadRaw(std::span<uint8_t> out) {
  file_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
  if (file_.bad()) throw DataLoss(fmt::format("{}: reading failed: {}", path_.string(), std::strerror(errno)));
  return static_cast<size_t>(file_.gcount());
}

size_t UnpackingFile::Read(std::span<uint8_t> out) {
  const size_t filled = is_packed() ? Unpack(out) : ReadRaw(out);
  offset_ += static_cast<int64_t>(filled);
  return filled;
}

size_t UnpackingFile::Unpack(std::span<uint8_t> out) {
  z_stream& stream = inflater_->stream();
  size_t filled = 0;
  while (filled < out.size()) {
    if (stream.avail_in == 0) inflater_->SetInput(ReadRaw(inflater_->packed()));
    if (stream.avail_in == 0) {
      if (inflater_->between_members) break;
      throw DataLoss(fmt::format(
          "{}: the {} stream breaks off at byte {} of the file (byte {} unpacked); the end of the stream was expected",
          path_.string(), inflater_->format(), inflater_->consumed(), offset_ + static_cast<int64_t>(filled)));
    }
    const size_t room = std::min<size_t>(out.size() - filled, std::numeric_limits<uInt>::max());
    stream.next_out = out.data() + filled;
    stream.avail_out = static_cast<uInt>(room);
    inflater_->between_members = false;
    const int result = inflate(&stream, Z_NO_FLUSH);
    filled += room - stream.avail_out;
    if (result == Z_STREAM_END) {
      inflater_->between_members = true;
      inflateReset(&stream);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      throw DataLoss(fmt::format("{}: the {} stream is corrupt at byte {} of the file (byte {} unpacked): {}",
                                 path_.string(), inflater_->format(), inflater_->consumed(),
                                 offset_ + static_cast<int64_t>(filled),
                                 stream.msg != nullptr ? stream.msg : "it needs a dictionary"));
    }
  }
  return filled;
}

}  // namespace muster::data
