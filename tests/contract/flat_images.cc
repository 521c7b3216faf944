#include "tests/contract/flat_images.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/file.h"
#include "data/format/png.h"
#include "data/format/record_writer.h"
#include "data/imagenet/example.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kHeight = 40, kWidth = 50;

std::string Png(int level) {
  return data::EncodePng(std::vector<uint8_t>(kHeight * kWidth * 3, static_cast<uint8_t>(level)), kHeight, kWidth, 3);
}

}  // namespace

std::vector<FlatImage> BlackAndWhite(int black) {
  std::vector<FlatImage> images;
  for (int i = 0; i < 16; ++i) images.push_back(i % 2 == 0 ? FlatImage{black, 0} : FlatImage{black + 1, 255});
  return images;
}

void WriteCifar10(const std::string& folder, const std::vector<FlatImage>& images) {
  constexpr size_t kBytes = 32 * 32 * 3;
  fs::create_directories(folder);
  for (const char* name :
       {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"}) {
    std::ofstream file(fmt::format("{}/{}.bin", folder, name), std::ios::binary);
    for (const FlatImage& image : images)
      file << static_cast<char>(image.label) << std::string(kBytes, static_cast<char>(image.level));
  }
}

void WriteImagenetRecords(const std::string& folder, const std::vector<FlatImage>& images) {
  constexpr int kFiles = 2;
  fs::create_directories(folder);
  for (const char* subset : {"train", "validation"}) {
    for (int file = 0; file < kFiles; ++file) {
      data::RecordWriter writer(fmt::format("{}/{}-{:05}-of-{:05}", folder, subset, file, kFiles));
      for (size_t i = 0; i < images.size(); ++i)
        if (static_cast<int>(i) / kFiles % kFiles == file)
          writer.Append(data::MakeImageExample({.bytes = Png(images[i].level), .label = images[i].label}));
      writer.Close();
    }
  }
}

void WriteImagenetFolders(const std::string& folder, const std::vector<FlatImage>& images) {
  for (const char* subset : {"train", "validation"}) {
    for (size_t i = 0; i < images.size(); ++i) {
      const std::string of_class = fmt::format("{}/{}/{}", folder, subset, images[i].label);
      fs::create_directories(of_class);
      WriteFileAtomically(fmt::format("{}/{}.png", of_class, i), Png(images[i].level));
    }
  }
}

}  // namespace muster::testing
