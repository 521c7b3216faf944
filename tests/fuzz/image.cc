// A JPEG or PNG file of any bytes; whole, and a part of it.
#include <algorithm>

#include "data/image/decode.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const char* bytes, size_t size) {
  using namespace muster;
  const std::string_view file(bytes, size);
  fuzz::ExpectOnlyErrors([&] {
    const data::ImageSize claimed = data::ReadImageSize(file);
    if (int64_t{claimed.height} * claimed.width > 1 << 20) return;  // only slow
    data::RgbImage image;
    data::DecodeImage(
        file, {},
        data::CropWindow{claimed.height / 3, claimed.width / 3, 1 + claimed.height / 4, 1 + claimed.width / 4}, &image);
    data::DecodeImage(file, {data::DctMethod::kIntegerAccurate, false}, {}, &image);
  });
  return 0;
}
