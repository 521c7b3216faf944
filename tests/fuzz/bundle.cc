// A checkpoint whose index is any bytes, and its data file the same bytes.
#include "data/format/bundle_reader.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/table_checksums.h"

extern "C" int LLVMFuzzerTestOneInput(const char* bytes, size_t size) {
  using namespace muster;
  std::string index(bytes, size);
  fuzz::PutChecksumsRight(&index);
  const std::string prefix = fuzz::WriteInput(".index", index.data(), index.size());
  fuzz::WriteInput(".data-00000-of-00001", bytes, size);
  fuzz::ExpectOnlyErrors([&] {
    const data::BundleReader bundle(prefix);
    for (const data::BundleEntry& entry : bundle.entries()) {
      fuzz::ExpectOnlyErrors([&] { bundle.Verify(entry); });
      fuzz::ExpectOnlyErrors([&] { bundle.Read(entry.name); });
      fuzz::ExpectOnlyErrors([&] { bundle.ReadStrings(entry.name); });
    }
  });
  return 0;
}
