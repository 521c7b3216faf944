#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <vector>

namespace muster::data {

class Inflater;

// How a file is packed. kByMagic: gzip if its first two bytes say so, whatever its name; otherwise not at all.
enum class Packing { kByMagic, kNone, kGzip, kZlib };

// A file read once from its beginning and unpacked on the way if it is packed (gzip: RFC 1952, zlib: RFC 1950). Gzip
// files of several members read as one. For one thread. Every failure throws Error naming the file and the byte offset.
class UnpackingFile {
 public:
  explicit UnpackingFile(std::filesystem::path path, Packing packing = Packing::kByMagic);
  ~UnpackingFile();

  // Fills "out" from where the last call stopped. Returns how much was filled: less than asked only at the end of the
  // content, whose checksum has then been verified.
  size_t Read(std::span<uint8_t> out);

  const std::filesystem::path& path() const { return path_; }
  bool is_packed() const { return inflater_ != nullptr; }
  // Content bytes handed out so far.
  int64_t offset() const { return offset_; }
  // No more content than this can be in the file: its size, or that times deflate's largest ratio of 1032. What a
  // header announces is checked against it before memory is allocated.
  int64_t max_content_bytes() const;

 private:
  size_t ReadRaw(std::span<uint8_t> out);
  size_t Unpack(std::span<uint8_t> out);

  std::filesystem::path path_;
  std::ifstream file_;
  int64_t file_size_ = 0;
  int64_t offset_ = 0;
  std::unique_ptr<Inflater> inflater_;  // null: a plain file
};

}  // namespace muster::data
