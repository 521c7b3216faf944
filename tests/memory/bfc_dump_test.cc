#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "memory/bfc_allocator.h"
#include "tests/memory/fake_source.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Picture(const std::string& dump) {
  const size_t open = dump.rfind('[');
  return dump.substr(open + 1, dump.rfind(']') - open - 1);
}

std::unique_ptr<BfcAllocator> Make(size_t limit) {
  return std::make_unique<BfcAllocator>(std::make_unique<FakeSource>(std::make_shared<SourceLog>()),
                                        BfcOptions{.name = "gpu_0_bfc", .memory_limit = limit, .allow_growth = false});
}

TEST(BfcDump, TheErrorSaysInOneLineWhatWasAskedInUseAndAllowed) {
  const auto allocator = Make(size_t{4} << 20);
  void* data = allocator->Allocate(size_t{3} << 20);
  try {
    allocator->Allocate(size_t{2} << 20);
    FAIL() << "no error";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.code(), Code::kResourceExhausted);
    EXPECT_STREQ(
        error.what(),
        "gpu_0_bfc is out of memory: asked for 2.00MiB (2097152 bytes) with 4.00MiB in use of a limit of 4.00MiB");
    EXPECT_THAT(error.dump(), HasSubstr("wanted 2.00MiB (2097152 bytes, rounded to 2097152): bin 13"));
  }
  allocator->Free(data);
}

TEST(BfcDump, TheErrorSaysWhenFragmentationIsTheReason) {
  const auto allocator = Make(4096);
  void* a = allocator->Allocate(1024);
  void* b = allocator->Allocate(1024);
  void* c = allocator->Allocate(1024);
  allocator->Free(a);
  allocator->Free(c);  // 1024 free, 1024 in use, 2048 free
  try {
    allocator->Allocate(3000);
    FAIL() << "no error";
  } catch (const OutOfMemory& error) {
    EXPECT_THAT(error.what(), HasSubstr("3.00KiB are free, the largest piece is 2.00KiB"));
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
  }
  allocator->Free(b);
}

TEST(BfcDump, ShowsBinsChunksSizesAndTotals) {
  const auto allocator = Make(4096);
  void* a = allocator->Allocate(300);
  void* b = allocator->Allocate(500);
  const std::string dump = allocator->Dump();
  EXPECT_THAT(dump, HasSubstr("memory of allocator gpu_0_bfc\n"));
  EXPECT_THAT(dump, HasSubstr("bin  1 (from 512B): 2 chunks, 2 in use; 1.00KiB, 1.00KiB in use, 800B requested\n"));
  EXPECT_THAT(dump, HasSubstr("bin  3 (from 2.00KiB): 1 chunks, 0 in use; 3.00KiB, 0B in use, 0B requested\n"));
  EXPECT_THAT(dump, HasSubstr("region 0 of 4096 bytes"));
  EXPECT_THAT(dump, HasSubstr(": 512 bytes, 300 requested, allocation 1\n"));
  EXPECT_THAT(dump, HasSubstr(": 512 bytes, 500 requested, allocation 2\n"));
  EXPECT_THAT(dump, HasSubstr(": 3072 bytes\n"));
  EXPECT_THAT(dump, HasSubstr("2 chunks of 512 bytes totalling 1.00KiB\n"));
  EXPECT_THAT(dump, HasSubstr("in use 1.00KiB of 4.00KiB in 1 regions, limit 4.00KiB\n"));
  EXPECT_THAT(dump,
              HasSubstr("peak 1.00KiB, largest allocation 512B, 2 allocations so far, largest free chunk 3.00KiB\n"));
  EXPECT_THAT(dump, Not(HasSubstr("wanted")));
  allocator->Free(a);
  allocator->Free(b);
}

TEST(BfcDump, ThePictureHas100CharactersWithUseSlackAndFreeInProportion) {
  const auto allocator = Make(25600);  // a character is one unit of 256 bytes
  EXPECT_EQ(Picture(allocator->Dump()), std::string(100, '_'));
  void* a = allocator->Allocate(2560);
  void* b = allocator->Allocate(2560);
  void* c = allocator->Allocate(2560);
  allocator->Free(b);
  b = allocator->Allocate(1536);  // takes all 2560: 6 units used, 4 slack
  EXPECT_EQ(Picture(allocator->Dump()), std::string(16, '*') + "xxxx" + std::string(10, '*') + std::string(70, '_'));
  allocator->Free(a);
  EXPECT_EQ(Picture(allocator->Dump()),
            std::string(10, '_') + std::string(6, '*') + "xxxx" + std::string(10, '*') + std::string(70, '_'));
  allocator->Free(b);
  allocator->Free(c);
}

TEST(BfcDump, AnAllocatorWithoutRegionsHasAnEmptyPicture) {
  const auto allocator = Make(4096);
  EXPECT_EQ(Picture(allocator->Dump()), std::string(100, '_'));
}

}  // namespace
}  // namespace muster
