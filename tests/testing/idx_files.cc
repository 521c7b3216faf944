#include "tests/testing/idx_files.h"

#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/check.h"

namespace muster::testing {

std::string IdxBytes(uint8_t element_type, const std::vector<uint32_t>& dims, const std::string& elements) {
  std::string bytes{'\0', '\0', static_cast<char>(element_type), static_cast<char>(dims.size())};
  for (const uint32_t size : dims)
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift);
  return bytes + elements;
}

std::string ImageBytes(uint32_t count, uint32_t height, uint32_t width) {
  std::string pixels(size_t{count} * height * width, '\0');
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<char>(i % 251);
  return IdxBytes(0x08, {count, height, width}, pixels);
}

std::string LabelBytes(const std::vector<uint8_t>& labels) {
  return IdxBytes(0x08, {static_cast<uint32_t>(labels.size())}, std::string(labels.begin(), labels.end()));
}

std::string Gzip(const std::string& content) {
  z_stream stream{};
  MUSTER_CHECK(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  MUSTER_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

TempFolder::TempFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "muster_XXXXXX").string();
  MUSTER_CHECK(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TempFolder::Write(const std::string& name, const std::string& content) const {
  const std::filesystem::path path = path_ / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

}  // namespace muster::testing
