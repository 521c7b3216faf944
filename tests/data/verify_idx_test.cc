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
  Remove("t10k-labels-idx1-ubyte");
  EXPECT_TRUE(HasIdx(folder_.path(), Subset::kValidation));
  EXPECT_THAT(Test().broken, ElementsAre(folder_.path().string() + ": the folder lacks t10k-labels-idx1-ubyte[.gz]"));
  Remove("t10k-images.idx3-ubyte");
  EXPECT_FALSE(HasIdx(folder_.path(), Subset::kValidation));
  EXPECT_THROW(Test(), Error);
  EXPECT_THAT(Train().broken, IsEmpty());
}

TEST_F(VerifyIdxTest, OneClassIsTooFewToTrainOn) {
  folder_.Write("train-labels-idx1-ubyte.gz", Gzip(LabelBytes({0, 0, 0})));
  EXPECT_THAT(Train().broken, ElementsAre(EndsWith("all 3 labels are 0; at least two classes were expected")));
  EXPECT_THAT(Train(10).broken, IsEmpty());
}

}  // namespace
}  // namespace muster::data
