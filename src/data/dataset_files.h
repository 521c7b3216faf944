#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace muster::data {

// The four IDX files of a data set in MNIST's form, or the folder of CIFAR-10's; and what is known of it.
struct DatasetFiles {
  std::string name;  // "fashion-mnist", "mnist", "idx", "cifar10"
  std::filesystem::path folder;
  std::filesystem::path train_images;  // these four: not of CIFAR-10
  std::filesystem::path train_labels;
  std::filesystem::path test_images;
  std::filesystem::path test_labels;
  int num_classes = 0;  // 0: one more than the largest training label
};

// Finds the files of --dataset="spec": "fashion-mnist", "mnist", "idx:DIR", "cifar10" or "cifar10:DIR". IDX files are
// named as in MNIST ("train-images-idx3-ubyte", or with a dot before "idx3"), with or without ".gz". The named sets are
// searched in DatasetFolders. Throws NotFound or InvalidArgument with one line that says what was looked for, where,
// and which package or folder would provide it.
DatasetFiles FindDatasetFiles(std::string_view spec);
// The same with other folders for the named sets.
DatasetFiles FindDatasetFiles(std::string_view spec, const std::vector<std::filesystem::path>& folders);

// The IDX files that a folder has; the paths of others are empty.
struct IdxFiles {
  // A file that cannot be read as one: its name (of several that it might have) and, if something is there, why.
  struct Missing {
    std::string what;
    bool is_of_training = false;
    bool is_there = false;
  };
  DatasetFiles files;
  std::vector<Missing> missing;

  // Whether something has one of the names.
  bool has_any() const;
};
IdxFiles IdxFilesIn(const std::filesystem::path& folder);

// Where a named data set is searched, in order: with MUSTER_DATA_DIR in the environment in $MUSTER_DATA_DIR/NAME and
// $MUSTER_DATA_DIR and nowhere else, as who names a folder wants no other data; without it in ./data/NAME,
// /usr/share/datasets/NAME (where Debian's dataset-* packages put them), /usr/local/share/datasets/NAME. Throws
// NotFound if MUSTER_DATA_DIR is no folder; an empty one counts as none.
std::vector<std::filesystem::path> DatasetFolders(std::string_view name);

// The values --dataset takes, for help and error texts.
inline constexpr std::string_view kDatasetSpecs = "fashion-mnist, mnist, idx:DIR, cifar10 or cifar10:DIR";

}  // namespace muster::data
