#include "data/verify_idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "muster/error.h"
#include "tests/testing/idx_files.h"

namespace muster::data {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using testing::Gzip;
using testing::ImageBytes;
using ::testing::IsEmpty;
using testing::LabelBytes;

class VerifyIdxTest : public ::testing::Test {
 protected:
  // A set of three training and two test images of 2x2.
  VerifyIdxTest() {
    folder_.Write("train-images-idx3-ubyte", ImageBytes(3, 2, 2));
    folder_.Write("train-labels-idx1-ubyte.gz", Gzip(LabelBytes({0, 2, 1})));
    folder_.Write("t10k-images.idx3-ubyte", ImageBytes(2, 2, 2));
    folder_.Write("t10k-labels-idx1-ubyte", LabelBytes({2, 0}));
  }

  VerifiedImages Verify(Subset subset, int num_classes = 0) {
    return VerifyIdx(folder_.path(), subset, num_classes, "--data_dir");
  }
  VerifiedImages Train(int num_classes = 0) { return Verify(Subset::kTrain, num_classes); }
  VerifiedImages Test(int num_classes = 0) { return Verify(Subset::kValidation, num_classes); }
  void Remove(const char* name) { std::filesystem::remove(folder_.path() / name); }

  testing::TempFolder folder_;
};

TEST_F(VerifyIdxTest, FindsNothingInWholeFiles) {
  EXPECT_THAT(Train().broken, IsEmpty());
  EXPECT_EQ(Train().whole, 3);
  EXPECT_THAT(Test().broken, IsEmpty());
  EXPECT_EQ(Test().whole, 2);
  EXPECT_EQ(Train(10).whole, 3);
}

TEST_F(VerifyIdxTest, NamesEachLabelThatIsNoClass) {
  folder_.Write("train-labels-idx1-ubyte.gz", Gzip(LabelBytes({10, 2, 77})));
  const VerifiedImages found = Train(10);
  EXPECT_THAT(found.broken,
              ElementsAre(EndsWith("train-labels-idx1-ubyte.gz: byte 8: label 0 is 10, 0 to 9 was expected"),
                          EndsWith("byte 10: label 2 is 77, 0 to 9 was expected")));
  EXPECT_EQ(found.whole, 1);
}

TEST_F(VerifyIdxTest, TestLabelsAreClassesOfTheTraining) {
  folder_.Write("t10k-labels-idx1-ubyte", LabelBytes({2, 3}));
  EXPECT_THAT(Train().broken, IsEmpty());
  EXPECT_THAT(Test().broken, ElementsAre(EndsWith("byte 9: label 1 is 3, 0 to 2 was expected")));
  EXPECT_THAT(Test(10).broken, IsEmpty());
}

TEST_F(VerifyIdxTest, NamesWhatIsWrongInBothFilesOfAPart) {
  folder_.Write("train-images-idx3-ubyte", ImageBytes(3, 2, 2).substr(0, 20));
  folder_.Write("train-labels-idx1-ubyte.gz", Gzip(LabelBytes({0, 2, 1}) + "x"));
  const VerifiedImages found = Train();
  ASSERT_EQ(found.broken.size(), 2u);
  EXPECT_THAT(found.broken[0], ::testing::HasSubstr("train-images-idx3-ubyte: byte 20: the file ends here"));
  EXPECT_THAT(found.broken[1], ::testing::HasSubstr("train-labels-idx1-ubyte.gz: byte 11: the file goes on"));
  EXPECT_EQ(found.whole, 0);
}

TEST_F(VerifyIdxTest, NamesNumbersAndSizesThatDoNotFitTogether) {
  folder_.Write("t10k-images.idx3-ubyte", ImageBytes(3, 2, 3));
  const VerifiedImages found = Test();
  EXPECT_THAT(found.broken, ElementsAre(::testing::HasSubstr("byte 4: the file announces 2 labels, 3 were expected"),
                                        ::testing::HasSubstr("images of 2x3x1, 2x2x1 was expected as in ")));
  EXPECT_EQ(found.whole, 0);
}

TEST_F(VerifyIdxTest, NamesWhatTheFolderLacks) {
  const std::string lacks = folder_.path().string() + ": the folder lacks ";
  Remove("t10k-labels-idx1-ubyte");
  EXPECT_THAT(Test().broken, ElementsAre(lacks + "t10k-labels-idx1-ubyte[.gz]"));
  Remove("t10k-images.idx3-ubyte");
  EXPECT_THAT(Test().broken, ElementsAre(lacks + "t10k-images-idx3-ubyte[.gz]", lacks + "t10k-labels-idx1-ubyte[.gz]"));
  EXPECT_THAT(Train().broken, IsEmpty());
  Remove("train-images-idx3-ubyte");
  EXPECT_TRUE(HasIdx(folder_.path()));
  Remove("train-labels-idx1-ubyte.gz");
  EXPECT_FALSE(HasIdx(folder_.path()));
  EXPECT_THROW(Test(), Error);
}

TEST_F(VerifyIdxTest, SaysWhatIsInThePlaceOfAFile) {
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte.gz"}) Remove(name);
  std::filesystem::create_directory(folder_.path() / "train-images-idx3-ubyte");
  std::filesystem::create_symlink("nowhere", folder_.path() / "train-labels-idx1-ubyte.gz");
  const std::string lacks = folder_.path().string() + ": the folder lacks the file ";
  EXPECT_THAT(Train().broken, ElementsAre(lacks + "train-images-idx3-ubyte (it is a folder)",
                                          lacks + "train-labels-idx1-ubyte.gz (a link to nothing)"));
  for (const char* name : {"t10k-images.idx3-ubyte", "t10k-labels-idx1-ubyte"}) Remove(name);
  EXPECT_TRUE(HasIdx(folder_.path()));
}

TEST_F(VerifyIdxTest, NamesTheFirstHundredBadLabelsAndCountsTheOthers) {
  folder_.Write("train-images-idx3-ubyte", ImageBytes(205, 2, 2));
  folder_.Write("train-labels-idx1-ubyte.gz", Gzip(LabelBytes(std::vector<uint8_t>(205, 10))));
  const VerifiedImages found = Train(10);
  ASSERT_EQ(found.broken.size(), 101u);
  EXPECT_THAT(found.broken[99], EndsWith("byte 107: label 99 is 10, 0 to 9 was expected"));
  EXPECT_THAT(found.broken[100], EndsWith("train-labels-idx1-ubyte.gz: 105 more labels are out of range"));
  EXPECT_EQ(found.whole, 0);
}

TEST_F(VerifyIdxTest, OneClassIsTooFewToTrainOn) {
  folder_.Write("train-labels-idx1-ubyte.gz", Gzip(LabelBytes({0, 0, 0})));
  EXPECT_THAT(Train().broken, ElementsAre(EndsWith("all 3 labels are 0; at least two classes were expected")));
  EXPECT_THAT(Train(10).broken, IsEmpty());
  EXPECT_THAT(Test().broken, IsEmpty());  // whose labels have done nothing
}

}  // namespace
}  // namespace muster::data
