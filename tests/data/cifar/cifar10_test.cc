#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "data/cifar/cifar10.h"
#include "data/cifar/pickle.h"
#include "data/format/coding.h"
#include "tests/data/error_of.h"
#include "tests/data/format/files.h"
#include "tests/testing/idx_files.h"

namespace muster::data {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::vector<float> PixelsOf(const Dataset& dataset, int64_t index, int32_t* label) {
  std::vector<float> pixels(static_cast<size_t>(dataset.image_elements()));
  *label = dataset.Get(index, 0, pixels);
  return pixels;
}

class GoldenCifar10 : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenCifar10, ImagesAndLabelsComeInTheListedOrder) {
  const auto folder = testing::GoldenDir() / "cifar10" / GetParam();
  const json contents = testing::GoldenJson("cifar10/contents.json");
  const Tensor images = testing::GoldenTensor("cifar10/images_nhwc.npy");
  const auto train = ReadCifar10(folder, Subset::kTrain, 11, "--data_dir"),
             test = ReadCifar10(folder, Subset::kValidation, 11, "--data_dir");
  ASSERT_EQ(train->size(), 15);
  ASSERT_EQ(test->size(), 3);
  EXPECT_EQ(train->num_classes(), 11);
  EXPECT_EQ(train->image_shape(), (Shape{32, 32, 3}));
  for (int64_t i = 0; i < 18; ++i) {
    const Dataset& part = i < 15 ? *train : *test;
    const int64_t turned = i < 15 ? i / 3 + 1 : 0;  // batch k is turned left by k
    const int64_t source = (i % 3 + turned) % 3;
    int32_t label = -1;
    const std::vector<float> pixels = PixelsOf(part, i < 15 ? i : i - 15, &label);
    EXPECT_EQ(label, contents["labels"][static_cast<size_t>(source)]) << i;
    const auto expected = images.data<uint8_t>().subspan(static_cast<size_t>(source) * 3072, 3072);
    EXPECT_TRUE(std::equal(pixels.begin(), pixels.end(), expected.begin(), expected.end())) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, GoldenCifar10, ::testing::Values("cifar-10-batches-py", "cifar-10-batches-bin", ""));

TEST(Cifar10, DamageIsOneLineWithFileAndPlace) {
  const testing::TempFolder folder;
  const auto read = [&] { ReadCifar10(folder.path(), Subset::kTrain, 11, "--data_dir"); };
  EXPECT_THAT(ErrorOf(read),
              EndsWith("neither data_batch_1 nor data_batch_1.bin in the folder (CIFAR-10's Python or binary form)"));
  std::string bytes = ReadFile(GoldenPath("cifar10/cifar-10-batches-bin/data_batch_1.bin"));
  folder.Write("data_batch_1.bin", bytes.substr(0, 4000));
  EXPECT_THAT(ErrorOf(read), EndsWith("data_batch_1.bin: the file has 4000 bytes and ends inside image 1 at byte 3073; "
                                      "a multiple of 3073 was expected"));
  bytes[3073] = 77;
  folder.Write("data_batch_1.bin", bytes);
  EXPECT_THAT(ErrorOf(read), EndsWith("data_batch_1.bin: image 1 at byte 3073: the label is 77; 0 to 9 was expected"));
  EXPECT_THAT(ErrorOf([&] { ReadCifar10(folder.path() / "none", Subset::kTrain, 11, "--data_dir"); }),
              HasSubstr("there is no such folder"));
}

TEST(Cifar10, ATruncatedPickleSaysWhere) {
  const testing::TempFolder folder;
  const std::string bytes = ReadFile(GoldenPath("cifar10/cifar-10-batches-py/data_batch_1"));
  for (const size_t size : {size_t{0}, size_t{1}, size_t{40}, size_t{5000}, bytes.size() - 1}) {
    folder.Write("data_batch_1", bytes.substr(0, size));
    EXPECT_THAT(ErrorOf([&] { ReadCifar10(folder.path(), Subset::kTrain, 11, "--data_dir"); }),
                HasSubstr("data_batch_1: byte "))
        << size;
  }
}

TEST(Pickle, EveryFlippedByteIsReadOrRefused) {
  const std::string bytes = ReadFile(GoldenPath("cifar10/cifar-10-batches-py/data_batch_1"));
  for (size_t at = 0; at < bytes.size(); at += at < 400 ? 1 : 97) {
    for (const int flip : {1, 16, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      try {
        const Pickle pickle(damaged);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::kDataLoss);
      }
    }
  }
}

TEST(Pickle, RefusesToCallAnythingElse) {
  EXPECT_EQ(ErrorOf([] {
              Pickle(
                  "\x80\x02"
                  "cos\nsystem\nU\x02ls\x85R.");
            }),
            "byte 18: the pickle calls os system, which has no place in a data set");
}

TEST(Pickle, ReadsPython2sStringsAndIntegers) {
  using namespace std::string_literals;
  const std::string bytes =
      "\x80\x02}(U\x01"
      "aK\x07U\x01"
      "bJ\xff\xff\xff\xffU\x01"
      "c\x8a\x02\x00\xff"
      "u."s;
  const Pickle pickle(bytes);
  EXPECT_EQ(*pickle.root().Find("a")->As<int64_t>(), 7);
  EXPECT_EQ(*pickle.root().Find("b")->As<int64_t>(), -1);
  EXPECT_EQ(*pickle.root().Find("c")->As<int64_t>(), -256);
  EXPECT_EQ(pickle.root().Find("d"), nullptr);
}

// As NumPy 2.4 writes numpy.arange(6, dtype=numpy.uint8).reshape(2, 3) with protocol 5, inside {"data": ...}: "bytes"
// is how its six bytes are written, "order" C (rows first) or F.
std::string Protocol5Array(const std::string& module, const std::string& bytes, const std::string& order) {
  using namespace std::string_literals;
  const std::string type =
      "\x8c\x05numpy\x94\x8c\x05"
      "dtype\x94\x93\x94\x8c\x02u1\x94\x89\x88\x87\x94R\x94"
      "(K\x03\x8c\x01|\x94NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00t\x94"
      "b"s;
  return "\x80\x05}\x94(\x8c\x04"
         "data\x94\x8c"s +
         static_cast<char>(module.size()) + module + "\x94\x8c\x0b_frombuffer\x94\x93\x94(" + bytes + "\x94" + type +
         "K\x02K\x03\x86\x94\x8c\x01" + order + "\x94t\x94R\x94u.";
}

TEST(Pickle, ReadsArraysOfProtocol5) {
  using namespace std::string_literals;
  const std::string writable = "\x96\x06\0\0\0\0\0\0\0\0\1\2\3\4\5"s, read_only = "C\x06\0\1\2\3\4\5"s;
  for (const char* module : {"numpy._core.numeric", "numpy.core.numeric"}) {
    for (const std::string& bytes : {writable, read_only}) {
      const std::string text = Protocol5Array(module, bytes, "C");
      const Pickle pickle(text);
      const auto* array = pickle.root().Find("data")->As<PickleValue::Array>();
      ASSERT_NE(array, nullptr);
      EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3}));
      EXPECT_EQ(array->bytes, "\0\1\2\3\4\5"s);
    }
  }
  EXPECT_THAT(ErrorOf([&] { Pickle pickle(Protocol5Array("numpy._core.numeric", writable, "F")); }),
              HasSubstr("one of bytes (u1), by rows, was expected"));
  EXPECT_THAT(ErrorOf([&] { Pickle pickle(Protocol5Array("numpy._core.numeric", writable.substr(0, 12), "C")); }),
              HasSubstr("byte "));
  EXPECT_EQ(ErrorOf([&] { Pickle("\x80\x05\x97."); }), "byte 2: code 0x97 is not known here");  // a buffer outside
}

TEST(Pickle, CopiesAreBounded) {
  std::string bytes = "\x80\x02X";
  AppendFixed32(&bytes, 100000);
  bytes += std::string(100000, 'x') + "q\x01";
  for (int i = 0; i < 1000; ++i) bytes += "c_codecs\nencode\nh\x01\x85R";
  EXPECT_THAT(ErrorOf([&] { Pickle pickle(bytes); }), HasSubstr("copies far more than it holds"));
}

}  // namespace
}  // namespace muster::data
