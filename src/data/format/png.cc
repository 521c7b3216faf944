#include "data/format/png.h"

#include <zlib.h>

#include "base/check.h"

namespace muster::data {
namespace {

void AppendBigEndian(std::string* out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>(value >> shift));
}

// Length, type and data, and the CRC of the latter two (PNG specification, 5.3).
void AppendChunk(std::string* out, const std::string& type, const std::string& data) {
  AppendBigEndian(out, static_cast<uint32_t>(data.size()));
  const std::string body = type + data;
  *out += body;
  AppendBigEndian(out, static_cast<uint32_t>(
                           crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()))));
}

std::string Deflated(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  MUSTER_CHECK(compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                        static_cast<uLong>(bytes.size())) == Z_OK);
  packed.resize(size);
  return packed;
}

}  // namespace

std::string EncodePng(std::span<const uint8_t> pixels, int height, int width, int channels) {
  MUSTER_CHECK(channels == 1 || channels == 3 || channels == 4);
  const size_t row_bytes = static_cast<size_t>(width) * static_cast<size_t>(channels);
  MUSTER_CHECK(pixels.size() == static_cast<size_t>(height) * row_bytes);
  std::string header;
  AppendBigEndian(&header, static_cast<uint32_t>(width));
  AppendBigEndian(&header, static_cast<uint32_t>(height));
  const char colour_type = channels == 1 ? 0 : channels == 3 ? 2 : 6;
  header += {8, colour_type, 0, 0, 0};  // bits, colour, deflate, adaptive filters, not interlaced
  std::string rows;
  for (int y = 0; y < height; ++y) {
    rows.push_back(0);  // no filter
    rows.append(reinterpret_cast<const char*>(pixels.data()) + static_cast<size_t>(y) * row_bytes, row_bytes);
  }
  std::string png = "\x89PNG\r\n\x1a\n";
  AppendChunk(&png, "IHDR", header);
  AppendChunk(&png, "IDAT", Deflated(rows));
  AppendChunk(&png, "IEND", "");
  return png;
}

}  // namespace muster::data
