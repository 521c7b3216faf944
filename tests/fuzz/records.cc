// A TFRecord file of any bytes, plain or packed.
#include "data/format/record_reader.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const char* bytes, size_t size) {
  using namespace muster;
  const std::string path = fuzz::WriteInput("", bytes, size);
  data::RecordReader reader(path);
  std::string record;
  for (bool more = true; more && !reader.is_lost();) {
    more = false;
    fuzz::ExpectOnlyErrors([&] {
      more = true;
      more = reader.Next(&record);
    });
  }
  return 0;
}
