#include "data/dataset_files.h"
#include "data/idx_dataset.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/train_test.h"
#include "muster/error.h"
#include "tests/data/error_of.h"
#include "tests/testing/idx_files.h"

namespace muster::data {
namespace {

using ::muster::testing::ImageBytes;
using ::muster::testing::LabelBytes;
using ::muster::testing::TempFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

void WriteSet(const TempFolder& folder, const std::string& under, const std::string& suffix = "") {
  folder.Write(under + "/train-images-idx3-ubyte" + suffix, ImageBytes(4, 3, 2));
  folder.Write(under + "/train-labels-idx1-ubyte" + suffix, LabelBytes({0, 1, 2, 1}));
  folder.Write(under + "/t10k-images-idx3-ubyte" + suffix, ImageBytes(2, 3, 2));
  folder.Write(under + "/t10k-labels-idx1-ubyte" + suffix, LabelBytes({2, 0}));
}

TEST(DatasetFiles, AFolderIsReadWithAndWithoutGzInTheNames) {
  TempFolder folder;
  WriteSet(folder, "plain");
  WriteSet(folder, "packed", ".gz");
  for (const std::string name : {"plain", "packed"}) {
    const DatasetFiles files = FindDatasetFiles("idx:" + (folder.path() / name).string());
    EXPECT_EQ(files.folder, folder.path() / name);
    const TrainTest data = ReadTrainTest(files);
    EXPECT_EQ(data.train->size(), 4);
    EXPECT_EQ(data.test->size(), 2);
    EXPECT_EQ(data.train->image_shape(), (Shape{3, 2, 1}));
  }
}

TEST(DatasetFiles, TheNumberOfClassesComesFromTheTrainingLabels) {
  TempFolder folder;
  WriteSet(folder, ".");
  const TrainTest data = ReadTrainTest(FindDatasetFiles("idx:" + folder.path().string()));
  EXPECT_EQ(data.train->num_classes(), 3);
  EXPECT_EQ(data.test->num_classes(), 3);
}

TEST(DatasetFiles, ATestLabelThatTrainingNeverSawIsRefused) {
  TempFolder folder;
  WriteSet(folder, ".");
  folder.Write("t10k-labels-idx1-ubyte", LabelBytes({2, 3}));
  EXPECT_THAT(ErrorOf([&] { ReadTrainTest(FindDatasetFiles("idx:" + folder.path().string())); }),
              HasSubstr("byte 9: label 1 is 3, 0 to 2 was expected"));
}

TEST(DatasetFiles, TrainingLabelsThatAreAllZeroAreBlamedThemselves) {
  TempFolder folder;
  WriteSet(folder, ".");
  folder.Write("train-labels-idx1-ubyte", LabelBytes({0, 0, 0, 0}));
  EXPECT_EQ(ErrorOf([&] { ReadTrainTest(FindDatasetFiles("idx:" + folder.path().string())); }),
            (folder.path() / "train-labels-idx1-ubyte").string() +
                ": all 4 labels are 0; at least two classes were expected");
}

TEST(DatasetFiles, AFolderInPlaceOfAFileIsNamed) {
  TempFolder folder;
  WriteSet(folder, ".");
  std::filesystem::remove(folder.path() / "train-images-idx3-ubyte");
  std::filesystem::create_directory(folder.path() / "train-images-idx3-ubyte");
  EXPECT_THAT(ErrorOf([&] { FindDatasetFiles("idx:" + folder.path().string()); }),
              HasSubstr("the folder lacks the file train-images-idx3-ubyte (it is a folder)"));
  EXPECT_THAT(ErrorOf([&] { ReadIdxDataset(folder.path(), folder.path(), 0); }),
              HasSubstr(": is a folder; a file was expected"));
}

TEST(DatasetFiles, AFileInPlaceOfTheFolderIsNamed) {
  TempFolder folder;
  WriteSet(folder, ".");
  EXPECT_THAT(ErrorOf([&] { FindDatasetFiles("idx:" + (folder.path() / "train-images-idx3-ubyte").string()); }),
              HasSubstr("is a file; its folder was expected"));
}

// Sets a variable of the environment for one test.
class Environment {
 public:
  explicit Environment(const std::string& data_dir) { setenv("MUSTER_DATA_DIR", data_dir.c_str(), 1); }
  ~Environment() { unsetenv("MUSTER_DATA_DIR"); }
};

TEST(DatasetFiles, TheVariableNamesTheFolderOfTheNamedSets) {
  TempFolder folder;
  WriteSet(folder, "mnist");
  const Environment environment(folder.path().string());
  EXPECT_EQ(FindDatasetFiles("mnist").folder, folder.path() / "mnist");
  EXPECT_THAT(ErrorOf([] { FindDatasetFiles("fashion-mnist"); }),
              AllOf(HasSubstr("not found in " + (folder.path() / "fashion-mnist").string() + ", " +
                              folder.path().string() + ";"),
                    HasSubstr("unset it, or name another folder with MUSTER_DATA_DIR or idx:DIR")));
}

TEST(DatasetFiles, AVariableThatNamesNoFolderIsAnErrorForNamedSets) {
  TempFolder folder;
  WriteSet(folder, ".");
  const Environment environment("/nowhere/at/all");
  EXPECT_THAT(ErrorOf([] { FindDatasetFiles("fashion-mnist"); }),
              ::testing::StartsWith("MUSTER_DATA_DIR=/nowhere/at/all: there is no such folder"));
  EXPECT_EQ(FindDatasetFiles("idx:" + folder.path().string()).folder, folder.path());
}

TEST(DatasetFiles, TestImagesOfAnotherSizeAreRefused) {
  TempFolder folder;
  WriteSet(folder, ".");
  folder.Write("t10k-images-idx3-ubyte", ImageBytes(2, 2, 3));
  EXPECT_THAT(ErrorOf([&] { ReadTrainTest(FindDatasetFiles("idx:" + folder.path().string())); }),
              HasSubstr("images of shape [2,3,1], [3,2,1] was expected"));
}

TEST(DatasetFiles, ANamedSetIsTakenFromTheFirstFolderThatHasAllFiles) {
  TempFolder folder;
  WriteSet(folder, "second");
  folder.Write("first/train-images-idx3-ubyte", "");
  const DatasetFiles files = FindDatasetFiles("mnist", {folder.path() / "first", folder.path() / "second"});
  EXPECT_EQ(files.folder, folder.path() / "second");
  EXPECT_EQ(files.num_classes, 10);
}

TEST(DatasetFiles, AnUnknownNameListsTheKnownOnes) {
  EXPECT_EQ(ErrorOf([] { FindDatasetFiles("imagenet"); }),
            "--dataset=imagenet: no such data set; expected fashion-mnist, mnist, idx:DIR, cifar10 or cifar10:DIR");
}

TEST(DatasetFiles, AMissingFashionMnistNamesThePackage) {
  EXPECT_THAT(ErrorOf([] { FindDatasetFiles("fashion-mnist", {"/nowhere"}); }),
              AllOf(HasSubstr("not found in /nowhere"), HasSubstr("dataset-fashion-mnist")));
}

TEST(DatasetFiles, AMissingMnistNamesTheFilesAndTheVariable) {
  EXPECT_THAT(ErrorOf([] { FindDatasetFiles("mnist", {"/nowhere"}); }),
              AllOf(HasSubstr("train-images-idx3-ubyte[.gz]"), HasSubstr("MUSTER_DATA_DIR")));
}

TEST(DatasetFiles, AnIncompleteFolderNamesTheMissingFiles) {
  TempFolder folder;
  WriteSet(folder, ".");
  std::filesystem::remove(folder.path() / "t10k-labels-idx1-ubyte");
  const std::string lacks = folder.path().string() + " lacks t10k-labels-idx1-ubyte[.gz]";
  EXPECT_THAT(ErrorOf([&] { FindDatasetFiles("mnist", {folder.path()}); }), HasSubstr(lacks));
  EXPECT_THAT(ErrorOf([&] { FindDatasetFiles("idx:" + folder.path().string()); }),
              HasSubstr("lacks t10k-labels-idx1-ubyte[.gz]"));
}

TEST(DatasetFiles, AMissingFolderIsNamed) {
  EXPECT_EQ(ErrorOf([] { FindDatasetFiles("idx:/nowhere/at/all"); }),
            "--dataset=idx:/nowhere/at/all: there is no such folder");
  EXPECT_THAT(ErrorOf([] { FindDatasetFiles("idx:"); }), HasSubstr("write idx:DIR"));
}

}  // namespace
}  // namespace muster::data
