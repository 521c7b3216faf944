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

constexpr int kMinClasses = 2, kMaxClasses = 256;  // a label is one byte

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
  std::optional<IdxImages> shape;
  int num_classes = kMaxClasses;
};

Expected OfTraining(const Pair& files, int num_classes) {
  const auto ignore = [](const Error& error) {
    if (error.code() == Code::kCancelled) throw error;
  };
  Expected expected;
  expected.training_images = files.images.string();
  expected.shape = Read<IdxImages>(
      files.images, [&] { return ReadIdxImageHeader(files.images); }, ignore);
  if (num_classes > 0) {
    expected.num_classes = num_classes;
    return expected;
  }
  const auto labels = Read<std::vector<uint8_t>>(
      files.labels, [&] { return ReadIdxLabels(files.labels, kMaxClasses, files.images, kAnyCount); }, ignore);
  const int found = labels ? *std::ranges::max_element(*labels) + 1 : 0;
  if (found >= kMinClasses) expected.num_classes = found;
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
        files_.images, [&] { return CheckIdxImages(files_.images); }, note_);
    const int64_t count = images ? images->count : kAnyCount;
    BadLabels bad;
    const auto labels = Read<std::vector<uint8_t>>(
        files_.labels, [&] { return ReadIdxLabels(files_.labels, expected_.num_classes, files_.images, count, &bad); },
        note_);
    Note(bad);
    if (labels && counts_classes_ && std::ranges::count(*labels, 0) == std::ssize(*labels))
      result_.broken.push_back(fmt::format("{}: all {} labels are 0; at least two classes were expected",
                                           files_.labels.string(), labels->size()));
    if (images && expected_.shape && !SameSize(*images, *expected_.shape)) {
      result_.broken.push_back(fmt::format("{}: images of {}, {} was expected as in {}", files_.images.string(),
                                           SizeText(*images), SizeText(*expected_.shape), expected_.training_images));
    } else if (images && labels) {
      result_.whole = count - bad.count;
    }
    return std::move(result_);
  }

  void Missing(const std::string& line) { result_.broken.push_back(line); }

 private:
  void Note(const BadLabels& bad) {
    for (const Error& error : bad.named) note_(error);
    if (const int64_t more = bad.count - std::ssize(bad.named); more > 0)
      result_.broken.push_back(fmt::format("{}: {} more labels are out of range", files_.labels.string(), more));
  }

  const Pair files_;
  const Expected expected_;
  const bool counts_classes_;
  VerifiedImages result_;
  const std::function<void(const Error&)> note_ = [this](const Error& error) { result_.Add(error, error.message()); };
};

}  // namespace

bool HasIdx(const fs::path& folder) { return IdxFilesIn(folder).has_any(); }

VerifiedImages VerifyIdx(const fs::path& folder, Subset subset, int num_classes, const std::string& flag) {
  std::error_code ignored;
  if (fs::is_regular_file(folder, ignored))
    throw InvalidArgument(fmt::format("flag {}={}: is a file; its folder was expected", flag, folder.string()));
  if (!fs::is_directory(folder, ignored))
    throw NotFound(fmt::format("flag {}={}: there is no such folder", flag, folder.string()));
  const IdxFiles found = IdxFilesIn(folder);
  if (!found.has_any())
    throw NotFound(
        fmt::format("flag {}={}: the folder has no file in MNIST's form: train-images-idx3-ubyte, "
                    "train-labels-idx1-ubyte, t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte, with or without .gz",
                    flag, folder.string()));
  const bool is_training = subset == Subset::kTrain;
  Expected expected;
  if (!is_training) expected = OfTraining(PairOf(found.files, Subset::kTrain), num_classes);
  else if (num_classes > 0) expected.num_classes = num_classes;
  Verifier verifier(PairOf(found.files, subset), std::move(expected), is_training && num_classes == 0);
  for (const IdxFiles::Missing& missing : found.missing)
    if (missing.is_of_training == is_training)
      verifier.Missing(fmt::format("{}: the folder lacks {}", folder.string(), missing.what));
  return verifier.Verify();
}

}  // namespace muster::data
