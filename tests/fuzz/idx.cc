// A file of MNIST's format of any bytes, plain or packed with gzip, as images and as labels.
#include "data/idx.h"

#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const char* bytes, size_t size) {
  using namespace muster;
  constexpr int64_t kLabels = 4;  // of images that a small input can have
  const std::string path = fuzz::WriteInput("", bytes, size);
  fuzz::ExpectOnlyErrors([&] { data::ReadIdxImages(path); });
  fuzz::ExpectOnlyErrors([&] { data::ReadIdxLabels(path, 10, "images", kLabels); });
  return 0;
}
