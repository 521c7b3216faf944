#include "data/idx.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "data/unpacking_file.h"
#include "muster/error.h"

namespace muster::data {
namespace {

constexpr uint8_t kUnsignedByte = 0x08;
constexpr int64_t kMagicBytes = 4;
constexpr int64_t kDimensionBytes = 4;
constexpr int64_t kReadBytes = int64_t{4} << 20;  // between two looks at Ctrl-C

Error WrongAt(const UnpackingFile& file, int64_t offset, std::string_view problem) {
  return DataLoss(fmt::format("{}: byte {}: {}", file.path().string(), offset, problem));
}

[[noreturn]] void Fail(const UnpackingFile& file, int64_t offset, std::string_view problem) {
  throw WrongAt(file, offset, problem);
}

std::string_view ElementTypeName(uint8_t code) {
  switch (code) {
    case 0x08: return "unsigned byte";
    case 0x09: return "signed byte";
    case 0x0b: return "16-bit integer";
    case 0x0c: return "32-bit integer";
    case 0x0d: return "32-bit float";
    case 0x0e: return "64-bit float";
    default: return "unknown";
  }
}

// Reads a part of the header, or fails naming what is missing.
void ReadHeaderBytes(UnpackingFile& file, std::span<uint8_t> out, std::string_view what) {
  const size_t filled = file.Read(out);
  if (filled < out.size())
    Fail(file, file.offset(), fmt::format("the file ends here, inside its IDX header; {} was expected", what));
}

// Reads the magic number and returns the number of dimensions.
int ReadMagic(UnpackingFile& file, int min_rank, int max_rank, std::string_view content) {
  std::array<uint8_t, kMagicBytes> magic{};
  ReadHeaderBytes(file, magic, "the magic number of 4 bytes");
  if (magic[0] != 0 || magic[1] != 0)
    Fail(file, 0,
         fmt::format("not an IDX file: it begins with 0x{:02x}{:02x}, two zero bytes were expected", magic[0],
                     magic[1]));
  if (magic[2] != kUnsignedByte)
    Fail(file, 2,
         fmt::format("the element type is 0x{:02x} ({}), 0x08 (unsigned byte) was expected", magic[2],
                     ElementTypeName(magic[2])));
  const int rank = magic[3];
  if (rank < min_rank || rank > max_rank)
    Fail(file, 3, fmt::format("the file has {} dimension{}, {} was expected", rank, rank == 1 ? "" : "s", content));
  return rank;
}

int64_t ReadDimension(UnpackingFile& file, std::string_view name, int64_t limit) {
  const int64_t offset = file.offset();
  std::array<uint8_t, kDimensionBytes> bytes{};
  ReadHeaderBytes(file, bytes, fmt::format("the {} (4 bytes from byte {})", name, offset));
  const int64_t size = int64_t{bytes[0]} << 24 | int64_t{bytes[1]} << 16 | int64_t{bytes[2]} << 8 | int64_t{bytes[3]};
  if (size < 1 || size > limit)
    Fail(file, offset, fmt::format("the {} is {}, 1 to {} was expected", name, size, limit));
  return size;
}

// Reads exactly "size" bytes of elements, piece by piece to where "place" says that so many bytes go, and checks that
// nothing follows.
void ReadElements(UnpackingFile& file, int64_t size, std::string_view announced,
                  const std::function<std::span<uint8_t>(size_t bytes)>& place) {
  const int64_t begin = file.offset();
  const auto fail_short = [&](int64_t end) {
    Fail(file, end,
         fmt::format("the file ends here; its header announces {}, that is {} bytes from byte {} on", announced, size,
                     begin));
  };
  for (int64_t rest = size; rest > 0;) {
    ThrowIfInterrupted();
    const std::span<uint8_t> part = place(static_cast<size_t>(std::min(rest, kReadBytes)));
    if (file.Read(part) < part.size()) fail_short(file.offset());
    rest -= std::ssize(part);
  }
  std::array<uint8_t, 1> beyond{};
  if (file.Read(beyond) != 0)
    Fail(file, begin + size,
         fmt::format("the file goes on; its header announces {}, so that its end was expected here", announced));
}

// Whether the file can hold what its header announces, before memory is taken for it.
void CheckSize(UnpackingFile& file, int64_t size, std::string_view announced) {
  const int64_t begin = file.offset();
  if (size > kMaxIdxBytes)
    Fail(file, kMagicBytes,
         fmt::format("the header announces {}, that is {} bytes; at most {} are read", announced, size, kMaxIdxBytes));
  if (begin + size <= file.max_content_bytes()) return;
  if (file.is_packed())
    Fail(file, kMagicBytes,
         fmt::format("the header announces {}, that is {} bytes; the gzip file is too small to hold more than {}",
                     announced, size, file.max_content_bytes()));
  Fail(file, file.max_content_bytes(),
       fmt::format("the file ends here; its header announces {}, that is {} bytes from byte {} on", announced, size,
                   begin));
}

std::vector<uint8_t> KeepElements(UnpackingFile& file, int64_t size, std::string_view announced) {
  CheckSize(file, size, announced);
  std::vector<uint8_t> elements(static_cast<size_t>(size));
  std::span<uint8_t> rest(elements);
  ReadElements(file, size, announced, [&](size_t bytes) {
    const std::span<uint8_t> part = rest.first(bytes);
    rest = rest.subspan(bytes);
    return part;
  });
  return elements;
}

void CheckElements(UnpackingFile& file, int64_t size, std::string_view announced) {
  CheckSize(file, size, announced);
  std::vector<uint8_t> piece(static_cast<size_t>(std::min(size, kReadBytes)));
  ReadElements(file, size, announced, [&](size_t bytes) { return std::span(piece).first(bytes); });
}

IdxImages ReadImageHeader(UnpackingFile& file) {
  const int rank = ReadMagic(file, 3, 4, "3 (image count, height, width; or 4 with channels)");
  IdxImages images;
  images.count = ReadDimension(file, "image count", std::numeric_limits<int32_t>::max());
  images.height = ReadDimension(file, "image height", kMaxIdxImageSide);
  images.width = ReadDimension(file, "image width", kMaxIdxImageSide);
  if (rank == 4) images.channels = ReadDimension(file, "number of channels", kMaxIdxChannels);
  return images;
}

std::string Announced(const IdxImages& images) {
  return fmt::format("{} images of {}x{}x{}", images.count, images.height, images.width, images.channels);
}

}  // namespace

IdxImages ReadIdxImages(const std::filesystem::path& path) {
  UnpackingFile file(path);
  IdxImages images = ReadImageHeader(file);
  images.pixels = KeepElements(file, images.count * images.image_bytes(), Announced(images));
  return images;
}

IdxImages CheckIdxImages(const std::filesystem::path& path) {
  UnpackingFile file(path);
  IdxImages images = ReadImageHeader(file);
  CheckElements(file, images.count * images.image_bytes(), Announced(images));
  return images;
}

IdxImages ReadIdxImageHeader(const std::filesystem::path& path) {
  UnpackingFile file(path);
  return ReadImageHeader(file);
}

std::vector<uint8_t> ReadIdxLabels(const std::filesystem::path& path, int num_classes,
                                   const std::filesystem::path& images_path, int64_t image_count) {
  BadLabels bad;
  std::vector<uint8_t> labels = ReadIdxLabels(path, num_classes, images_path, image_count, &bad);
  if (bad.count > 0) throw bad.named.front();
  return labels;
}

std::vector<uint8_t> ReadIdxLabels(const std::filesystem::path& path, int num_classes,
                                   const std::filesystem::path& images_path, int64_t image_count, BadLabels* bad) {
  UnpackingFile file(path);
  ReadMagic(file, 1, 1, "1 (label count)");
  const int64_t count = ReadDimension(file, "label count", std::numeric_limits<int32_t>::max());
  if (image_count != kAnyCount && count != image_count)
    Fail(file, kMagicBytes,
         fmt::format("the file announces {} labels, {} were expected, one for each image of {}", count, image_count,
                     images_path.string()));
  std::vector<uint8_t> labels = KeepElements(file, count, fmt::format("{} labels", count));
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < num_classes) continue;
    if (bad->count++ < BadLabels::kMostNamed)
      bad->named.push_back(WrongAt(file, kMagicBytes + kDimensionBytes + static_cast<int64_t>(i),
                                   fmt::format("label {} is {}, 0 to {} was expected", i, labels[i], num_classes - 1)));
  }
  return labels;
}

}  // namespace muster::data
