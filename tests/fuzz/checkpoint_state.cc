// A "checkpoint" file of any bytes.
#include "data/format/checkpoint_state.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const char* bytes, size_t size) {
  muster::fuzz::ExpectOnlyErrors([&] { muster::data::ParseCheckpointState(std::string(bytes, size), "input"); });
  return 0;
}
