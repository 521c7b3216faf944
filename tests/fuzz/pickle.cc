// A file of CIFAR-10's Python form of any bytes.
#include "data/cifar/pickle.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const char* bytes, size_t size) {
  using namespace muster;
  fuzz::ExpectOnlyErrors([&] { data::Pickle({bytes, size}); });
  return 0;
}
