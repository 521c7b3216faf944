// A file of CIFAR-10's binary form of any bytes, read and verified.
#include "data/cifar/cifar10.h"
#include "data/cifar/verify_cifar10.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const char* bytes, size_t size) {
  using namespace muster;
  std::filesystem::create_directory(fuzz::InputPath());
  const std::string folder = fuzz::WriteInput("/data_batch_1.bin", bytes, size);
  fuzz::ExpectOnlyErrors([&] { data::ReadCifar10(folder, data::Subset::kTrain, 11, "--data_dir"); });
  fuzz::ExpectOnlyErrors([&] { data::VerifyCifar10(folder, data::Subset::kTrain, "--data_dir"); });
  return 0;
}
