#include "data/verify_idx.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "data/dataset_files.h"
#include "data/idx.h"
#include "muster/error.h"

namespace muster::data {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxClasses = 256;  // a label is one byte

// The two files of a part, of which one may be missing (empty).
struct Pair {
  fs::path images, labels;
};

Pair PairOf(const DatasetFiles& files, Subset subset) {
  return subset == Subset::kTrain ? Pair{files.train_images, files.train_labels}
                                  : Pair{files.test_images, files.test_labels};
}

// What "read" returns; nothing if the file is missing or damaged, which "on_error" is told of.
template <typename T>
std::optional<T> Read(const fs::path& path, const std::function<T()>& read,
                      const std::function<void(const Error&)>& on_error) {
  if (path.empty()) return std::nullopt;
  try {
    return read();
  } catch (const Error& error) {
    on_error(error);
    return std::nullopt;
  }
}

// The test images and labels must go with the training's, whose own faults are named with the training part.
struct Expected {
  std::string training_images;
  std::optional<IdxImages> shape;  // without pixels
  int num_classes = kMaxClasses;
};

Expected OfTraining(const Pair& files, int num_classes) {
  const auto ignore = [](const Error& error) {
    if (error.code() == Code::kCancelled) throw error;
  };
  Expected expected;
  expected.training_images = files.images.string();
  expected.shape = Read<IdxImages>(
      files.images, [&] { return ReadIdxImages(files.images); }, ignore);
  if (expected.shape) expected.shape->pixels = {};
  if (num_classes > 0) {
    expected.num_classes = num_classes;
    return expected;
  }
  const auto labels = Read<std::vector<uint8_t>>(
      files.labels, [&] { return ReadIdxLabels(files.labels, kMaxClasses, files.images, kAnyCount); }, ignore);
  if (labels) expected.num_classes = *std::ranges::max_element(*labels) + 1;
  return expected;
}

std::string SizeText(const IdxImages& images) {
  return fmt::format("{}x{}x{}", images.height, images.width, images.channels);
}

bool SameSize(const IdxImages& a, const IdxImages& b) {
  return a.height == b.height && a.width == b.width && a.channels == b.channels;
}

class Verifier {
 public:
  // "counts_classes": as many as there are labels, which must be two at least.
  Verifier(Pair files, Expected expected, bool counts_classes)
      : files_(std::move(files)), expected_(std::move(expected)), counts_classes_(counts_classes) {}

  VerifiedImages Verify() {
    const auto images = Read<IdxImages>(
        files_.images, [&] { return ReadIdxImages(files_.images); }, note_);
    const int64_t count = images ? images->count : kAnyCount;
    int64_t bad_labels = 0;
    const auto on_bad_label = [&](const Error& error) { note_(error), ++bad_labels; };
    const auto labels = Read<std::vector<uint8_t>>(
        files_.labels,
        [&] { return ReadIdxLabels(files_.labels, expected_.num_classes, files_.images, count, on_bad_label); }, note_);
    if (labels && counts_classes_ && std::ranges::count(*labels, 0) == std::ssize(*labels))
      result_.broken.push_back(fmt::format("{}: all {} labels are 0; at least two classes were expected",
                                           files_.labels.string(), labels->size()));
    if (images && expected_.shape && !SameSize(*images, *expected_.shape)) {
      result_.broken.push_back(fmt::format("{}: images of {}, {} was expected as in {}", files_.images.string(),
                                           SizeText(*images), SizeText(*expected_.shape), expected_.training_images));
    } else if (images && labels) {
      result_.whole = count - bad_labels;
    }
    return std::move(result_);
  }

  void Missing(const std::string& line) { result_.broken.push_back(line); }

 private:
  const Pair files_;
  const Expected expected_;
  const bool counts_classes_;
  VerifiedImages result_;
  const std::function<void(const Error&)> note_ = [this](const Error& error) { result_.Add(error, error.message()); };
};

}  // namespace

bool HasIdx(const fs::path& folder, Subset subset) {
  const Pair files = PairOf(IdxFilesIn(folder).files, subset);
  return !files.images.empty() || !files.labels.empty();
}

VerifiedImages VerifyIdx(const fs::path& folder, Subset subset, int num_classes, const std::string& flag) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    throw NotFound(fmt::format("flag {}={}: there is no such folder", flag, folder.string()));
  const IdxFiles found = IdxFilesIn(folder);
  const std::string stem = subset == Subset::kTrain ? "train-" : "t10k-";
  const Pair files = PairOf(found.files, subset);
  if (files.images.empty() && files.labels.empty())
    throw NotFound(
        fmt::format("flag {}={}: neither {}images-idx3-ubyte nor {}labels-idx1-ubyte in the folder, with or "
                    "without .gz (MNIST's form)",
                    flag, folder.string(), stem, stem));
  const bool is_training = subset == Subset::kTrain;
  Expected expected;
  if (!is_training) expected = OfTraining(PairOf(found.files, Subset::kTrain), num_classes);
  else if (num_classes > 0) expected.num_classes = num_classes;
  Verifier verifier(files, std::move(expected), is_training && num_classes == 0);
  for (const std::string& missing : found.missing)
    if (missing.find(stem) != std::string::npos)
      verifier.Missing(fmt::format("{}: the folder lacks {}", folder.string(), missing));
  return verifier.Verify();
}

}  // namespace muster::data
