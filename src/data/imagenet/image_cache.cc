#include "data/imagenet/image_cache.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "data/format/coding.h"
#include "data/format/crc32c.h"
#include "muster/error.h"

namespace muster::data {
namespace {

constexpr std::string_view kMagic = "muster images 1\n", kEnd = "images 1";
constexpr int64_t kAlignment = 64;

struct IndexEntry {
  uint64_t offset;
  uint32_t height, width, label, boxes, crc, zero;
};
static_assert(sizeof(IndexEntry) == 32);

struct Trailer {
  uint64_t index_offset, count;
  uint32_t index_crc, crc;
  char end[8];
};
static_assert(sizeof(Trailer) == 32);
constexpr size_t kSummedTrailerBytes = 20;  // in front of its own checksum

template <typename T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

[[noreturn]] void Refuse(const std::string& path, const std::string& what) {
  throw DataLoss(fmt::format("{}: {}", path, what));
}

class ImageCache : public ImageSource {
 public:
  ImageCache(const std::filesystem::path& path, int num_classes) : file_(path.string()) {
    const std::string_view bytes = file_.bytes();
    if (!bytes.starts_with(kMagic)) Refuse(file_.path(), "is no file of decoded images, or one of another version");
    if (bytes.size() < kMagic.size() + sizeof(Trailer)) Refuse(file_.path(), "the file ends too early");
    std::memcpy(&trailer_, bytes.data() + bytes.size() - sizeof trailer_, sizeof trailer_);
    const bool is_right = std::string_view(trailer_.end, sizeof trailer_.end) == kEnd &&
                          trailer_.crc == MaskCrc(Crc32c(BytesOf(trailer_).substr(0, kSummedTrailerBytes)));
    if (!is_right) Refuse(file_.path(), "the file was cut off, or its last 32 bytes are damaged");
    const uint64_t index_end = bytes.size() - sizeof trailer_;
    const bool fits = trailer_.index_offset <= index_end &&
                      trailer_.count == (index_end - trailer_.index_offset) / sizeof(IndexEntry) &&
                      (index_end - trailer_.index_offset) % sizeof(IndexEntry) == 0;
    if (!fits) Refuse(file_.path(), "its index is not where its last bytes say");
    if (trailer_.index_crc != MaskCrc(Crc32c(bytes.substr(trailer_.index_offset, index_end - trailer_.index_offset))))
      Refuse(file_.path(), fmt::format("the checksum of its index at byte {} is wrong", trailer_.index_offset));
    if (trailer_.count == 0) Refuse(file_.path(), "holds no image");
    for (int64_t i = 0; i < size(); ++i) CheckEntry(i, num_classes);
  }

  int64_t size() const override { return static_cast<int64_t>(trailer_.count); }

  EncodedImage Get(int64_t index) const override {
    if (!file_.is_whole()) Refuse(Where(index), "the file has become shorter since it was opened");
    const IndexEntry entry = EntryAt(index);
    const size_t pixels = size_t{entry.height} * entry.width * 3;
    const std::string_view all = file_.bytes().substr(entry.offset, pixels + entry.boxes * sizeof(Box));
    if (entry.crc != MaskCrc(Crc32c(all))) Refuse(Where(index), "the checksum of the image is wrong");
    EncodedImage image;
    image.mapped = all.substr(0, pixels);
    image.raw_size = ImageSize{static_cast<int>(entry.height), static_cast<int>(entry.width)};
    image.label = static_cast<int32_t>(entry.label);
    image.boxes.resize(entry.boxes);
    if (entry.boxes > 0) std::memcpy(image.boxes.data(), all.data() + pixels, entry.boxes * sizeof(Box));
    return image;
  }

  // The byte is in the index at the file's end, which a file that became shorter lacks.
  std::string Where(int64_t index) const override {
    if (!file_.is_whole()) return fmt::format("{}: image {}", file_.path(), index);
    return fmt::format("{}: image {} at byte {}", file_.path(), index, EntryAt(index).offset);
  }

 private:
  IndexEntry EntryAt(int64_t index) const {
    MUSTER_CHECK(index >= 0 && index < size());
    IndexEntry entry;
    std::memcpy(&entry, file_.bytes().data() + trailer_.index_offset + static_cast<uint64_t>(index) * sizeof entry,
                sizeof entry);
    return entry;
  }

  void CheckEntry(int64_t index, int num_classes) const {
    const IndexEntry entry = EntryAt(index);
    const uint64_t room = trailer_.index_offset;
    const bool is_sane = entry.height > 0 && entry.width > 0 && entry.height <= kMaxCachedSide &&
                         entry.width <= kMaxCachedSide && entry.offset <= room &&
                         uint64_t{entry.height} * entry.width * 3 <= room - entry.offset &&
                         entry.boxes * sizeof(Box) <= room - entry.offset - uint64_t{entry.height} * entry.width * 3;
    if (!is_sane) Refuse(Where(index), "its index entry points outside of the file");
    if (entry.label >= static_cast<uint32_t>(num_classes))
      Refuse(Where(index), fmt::format("the label is {}; 0 to {} was expected", entry.label, num_classes - 1));
  }

  MappedFile file_;
  Trailer trailer_{};
};

}  // namespace

std::string ImageCacheName(std::string_view subset) { return fmt::format("{}.images", subset); }

ImageCacheWriter::ImageCacheWriter(const std::string& path) : file_(path, OutputFile::Mode::kPending) {
  file_.Append(kMagic);
}

void ImageCacheWriter::Append(const RgbImage& image, int32_t label, const std::vector<Box>& boxes) {
  MUSTER_CHECK(image.height > 0 && image.width > 0 && std::max(image.height, image.width) <= kMaxCachedSide);
  file_.Append(std::string(static_cast<size_t>((kAlignment - file_.size() % kAlignment) % kAlignment), '\0'));
  const std::string_view pixels(reinterpret_cast<const char*>(image.pixels.data()), image.pixels.size());
  const std::string_view box_bytes(reinterpret_cast<const char*>(boxes.data()), boxes.size() * sizeof(Box));
  const uint32_t crc = ExtendCrc32c(Crc32c(pixels), box_bytes.data(), box_bytes.size());
  const IndexEntry entry{static_cast<uint64_t>(file_.size()),
                         static_cast<uint32_t>(image.height),
                         static_cast<uint32_t>(image.width),
                         static_cast<uint32_t>(label),
                         static_cast<uint32_t>(boxes.size()),
                         MaskCrc(crc),
                         0};
  file_.Append(pixels);
  file_.Append(box_bytes);
  index_ += BytesOf(entry);
  ++count_;
}

void ImageCacheWriter::Close() {
  Trailer trailer{static_cast<uint64_t>(file_.size()), static_cast<uint64_t>(count_), MaskCrc(Crc32c(index_)), 0, {}};
  trailer.crc = MaskCrc(Crc32c(BytesOf(trailer).substr(0, kSummedTrailerBytes)));
  kEnd.copy(trailer.end, sizeof trailer.end);
  file_.Append(index_);
  file_.Append(BytesOf(trailer));
  file_.Sync();
  file_.Close();
  file_.Commit();
  SyncFolder(std::filesystem::path(file_.path()).parent_path().string());
}

std::unique_ptr<ImageSource> OpenImageCache(const std::filesystem::path& path, int num_classes) {
  return std::make_unique<ImageCache>(path, num_classes);
}

}  // namespace muster::data
