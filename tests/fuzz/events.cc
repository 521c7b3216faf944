// An event of any bytes.
#include "data/format/event.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const char* bytes, size_t size) {
  muster::fuzz::ExpectOnlyErrors([&] { muster::data::EventBytes(muster::data::ParseEvent({bytes, size}, "input")); });
  return 0;
}
