// The index of a checkpoint as a table of any bytes. The input is the table without checksums: they are put right, or
// hardly an input would get past them.
#include "data/format/table.h"

#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/table_checksums.h"

extern "C" int LLVMFuzzerTestOneInput(const char* bytes, size_t size) {
  std::string file(bytes, size);
  muster::fuzz::ExpectOnlyErrors([&] { muster::data::ParseTable("table", file); });
  muster::fuzz::PutChecksumsRight(&file);
  muster::fuzz::ExpectOnlyErrors([&] { muster::data::ParseTable("table", file); });
  return 0;
}
