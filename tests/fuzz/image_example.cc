// The message in a record of images, of any bytes.
#include "data/imagenet/example.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const char* bytes, size_t size) {
  using namespace muster;
  fuzz::ExpectOnlyErrors([&] { data::ParseImageExample({bytes, size}, 1001); });
  return 0;
}
