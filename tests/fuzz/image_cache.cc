// A file of decoded images of any bytes. Its checksums are made right first, so that what they cover is reached.
#include <algorithm>
#include <cstring>

#include "data/format/crc32c.h"
#include "data/imagenet/image_cache.h"
#include "tests/fuzz/fuzz_file.h"

namespace {

void Put(std::string* file, size_t at, uint32_t value) { std::memcpy(file->data() + at, &value, sizeof value); }

// The index's checksum, if the trailer points into the file, then the trailer's.
void MakeChecksumsRight(std::string* file) {
  constexpr size_t kTrailer = 32;
  if (file->size() < kTrailer) return;
  const size_t trailer = file->size() - kTrailer;
  uint64_t index = 0;
  std::memcpy(&index, file->data() + trailer, sizeof index);
  const std::string_view all(*file);
  if (index <= trailer)
    Put(file, trailer + 16, muster::data::MaskCrc(muster::data::Crc32c(all.substr(index, trailer - index))));
  Put(file, trailer + 20, muster::data::MaskCrc(muster::data::Crc32c(all.substr(trailer, 20))));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const char* bytes, size_t size) {
  using namespace muster;
  std::string file(bytes, size);
  MakeChecksumsRight(&file);
  const std::string path = fuzz::WriteInput("", file.data(), file.size());
  fuzz::ExpectOnlyErrors([&] {
    const auto images = data::OpenImageCache(path, 1001);
    for (int64_t i = 0; i < std::min<int64_t>(images->size(), 16); ++i) fuzz::ExpectOnlyErrors([&] { images->Get(i); });
  });
  return 0;
}
