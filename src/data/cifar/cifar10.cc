#include "data/cifar/cifar10.h"

#include <functional>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "base/input_file.h"
#include "data/cifar/pickle.h"
#include "data/cifar/verify_cifar10.h"
#include "base/interrupt.h"
#include "data/missing_files.h"
#include "muster/error.h"

namespace muster::data {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSide = 32, kPlane = kSide * kSide, kImageBytes = 3 * kPlane;
constexpr int kLabels = 10, kTrainFiles = 5;

// Images as they are stored: one after the other, each a red, a green and a blue plane.
struct Images {
  std::string pixels;
  std::vector<uint8_t> labels;
};

// What becomes of an image or a file that is broken: reading stops there, or (verification) goes on with the next.
using OnBroken = std::function<void(const Error& error)>;

bool IsLabel(int64_t label, const fs::path& file, int64_t image, int64_t offset, const OnBroken& on_broken) {
  if (label >= 0 && label < kLabels) return true;
  const std::string where = offset < 0 ? "" : fmt::format(" at byte {}", offset);
  on_broken(DataLoss(fmt::format("{}: image {}{}: the label is {}; 0 to {} was expected", file.string(), image, where,
                                 label, kLabels - 1)));
  return false;
}

void AddBinary(const fs::path& file, const std::string& bytes, Images* images, const OnBroken& on_broken) {
  constexpr int64_t kRecord = 1 + kImageBytes;
  const auto size = static_cast<int64_t>(bytes.size());
  if (size == 0 || size % kRecord != 0)
    on_broken(DataLoss(
        fmt::format("{}: the file has {} bytes and ends inside image {} at byte {}; a multiple of {} was expected",
                    file.string(), size, size / kRecord, size / kRecord * kRecord, kRecord)));
  for (int64_t i = 0; i < size / kRecord; ++i) {
    const char* record = bytes.data() + i * kRecord;
    const auto label = static_cast<uint8_t>(record[0]);
    if (!IsLabel(label, file, i, i * kRecord, on_broken)) continue;
    images->labels.push_back(label);
    images->pixels.append(record + 1, kImageBytes);
  }
}

void AddPickled(const fs::path& file, const std::string& bytes, Images* images, const OnBroken& on_broken) try {
  const Pickle pickle(bytes);
  const PickleValue* labels = pickle.root().Find("labels");
  const PickleValue* data = pickle.root().Find("data");
  const auto* list = labels == nullptr ? nullptr : labels->As<PickleValue::List>();
  const auto* array = data == nullptr ? nullptr : data->As<PickleValue::Array>();
  if (list == nullptr || array == nullptr)
    throw DataLoss("the pickle is no dictionary with a list \"labels\" and an array \"data\"");
  const auto count = static_cast<int64_t>(list->size());
  if (array->shape != std::vector<int64_t>{count, kImageBytes} ||
      static_cast<int64_t>(array->bytes.size()) != count * kImageBytes)
    throw DataLoss(
        fmt::format("\"data\" is no array of {} images of {} bytes, as there are labels", count, kImageBytes));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t* label = (*list)[static_cast<size_t>(i)]->As<int64_t>();
    if (!IsLabel(label == nullptr ? -1 : *label, file, i, -1, on_broken)) continue;
    images->labels.push_back(static_cast<uint8_t>(*label));
    images->pixels.append(array->bytes, static_cast<size_t>(i * kImageBytes), kImageBytes);
  }
} catch (const Error& error) {
  if (error.code() != Code::kDataLoss || error.message().starts_with(file.string())) throw;
  on_broken(DataLoss(fmt::format("{}: {}", file.string(), error.message())));
}

// False: it cannot be read at all, which "on_broken" was told.
bool ReadInto(const fs::path& file, std::string* bytes, const OnBroken& on_broken) try {
  const InputFile is_regular(file.string());  // so that nobody waits for what a pipe will bring
  *bytes = ReadFile(file.string());
  return true;
} catch (const Error& error) {
  on_broken(error);
  return false;
}

class Cifar10 : public Dataset {
 public:
  Cifar10(Images images, int num_classes)
      : images_(std::move(images)), num_classes_(num_classes), shape_{kSide, kSide, 3} {}

  int64_t size() const override { return static_cast<int64_t>(images_.labels.size()); }
  const Shape& image_shape() const override { return shape_; }
  int num_classes() const override { return num_classes_; }

  int32_t Get(int64_t index, uint64_t /*epoch*/, std::span<float> image) const override {
    MUSTER_CHECK(index >= 0 && index < size() && static_cast<int64_t>(image.size()) == kImageBytes);
    const auto* planes = reinterpret_cast<const uint8_t*>(images_.pixels.data()) + index * kImageBytes;
    for (int64_t i = 0; i < kPlane; ++i)
      for (int64_t c = 0; c < 3; ++c) image[static_cast<size_t>(3 * i + c)] = planes[c * kPlane + i];
    return images_.labels[static_cast<size_t>(index)];
  }

 private:
  Images images_;
  int num_classes_;
  Shape shape_;
};

// Whether there is anything of that name: what is no file is found when it is read.
bool IsThere(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// The files of a part in one form.
struct Parts {
  std::vector<fs::path> files;    // that are there
  std::vector<fs::path> missing;  // that belong to it, too
  bool is_binary = false;
};

Parts FindParts(const fs::path& folder, Subset subset, bool is_binary) {
  Parts parts{.is_binary = is_binary};
  const bool train = subset == Subset::kTrain;
  for (int i = 1; i <= (train ? kTrainFiles : 1); ++i) {
    const std::string name = train ? fmt::format("data_batch_{}", i) : "test_batch";
    const fs::path file = folder / (name + (is_binary ? ".bin" : ""));
    (IsThere(file) ? parts.files : parts.missing).push_back(file);
  }
  return parts;
}

// In the first form that the folder has; none of its files is there if it has neither.
Parts FindParts(const fs::path& folder, Subset subset) {
  for (const char* sub_folder : {"", "cifar-10-batches-py", "cifar-10-batches-bin"}) {
    for (const bool is_binary : {false, true}) {
      Parts parts = FindParts(sub_folder[0] == '\0' ? folder : folder / sub_folder, subset, is_binary);
      if (!parts.files.empty()) return parts;
    }
  }
  return {};
}

// Reads all files of a part.
Images ReadParts(const fs::path& folder, Subset subset, const std::string& flag, const OnBroken& on_broken) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    throw NotFound(fmt::format("flag {}={}: there is no such folder", flag, folder.string()));
  const Parts parts = FindParts(folder, subset);
  if (parts.files.empty()) {
    const char* wanted = subset == Subset::kTrain ? "data_batch_1" : "test_batch";
    throw NotFound(fmt::format("flag {}={}: neither {} nor {}.bin in the folder (CIFAR-10's Python or binary form)",
                               flag, folder.string(), wanted, wanted));
  }
  Images images;
  for (const fs::path& file : parts.files) {
    ThrowIfInterrupted();
    std::string bytes;
    if (ReadInto(file, &bytes, on_broken)) (parts.is_binary ? AddBinary : AddPickled)(file, bytes, &images, on_broken);
  }
  return images;
}

}  // namespace

std::unique_ptr<Dataset> ReadCifar10(const fs::path& folder, Subset subset, int num_classes, const std::string& flag) {
  MUSTER_CHECK(num_classes >= kLabels);
  Images images = ReadParts(folder, subset, flag, [](const Error& error) { throw error; });
  if (images.labels.empty())
    throw DataLoss(fmt::format("flag {}={}: the files of CIFAR-10 there hold no image", flag, folder.string()));
  return std::make_unique<Cifar10>(std::move(images), num_classes);
}

bool HasCifar10(const fs::path& folder, Subset subset) { return !FindParts(folder, subset).files.empty(); }

std::vector<std::string> MissingCifar10Files(const fs::path& folder, Subset subset) {
  const Parts parts = FindParts(folder, subset);
  if (parts.files.empty() || parts.missing.empty()) return {};
  return {MissingFilesLine(parts.missing.front(), static_cast<int64_t>(parts.missing.size()), kTrainFiles)};
}

VerifiedImages VerifyCifar10(const fs::path& folder, Subset subset, const std::string& flag) {
  VerifiedImages result;
  const Images images =
      ReadParts(folder, subset, flag, [&](const Error& error) { result.Add(error, error.message()); });
  for (const std::string& line : MissingCifar10Files(folder, subset)) result.broken.push_back(line);
  result.whole = static_cast<int64_t>(images.labels.size());
  return result;
}

}  // namespace muster::data
