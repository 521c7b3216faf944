#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace muster::testing {

// IDX content made by hand, and files of it in a folder that goes away with the object.
std::string IdxBytes(uint8_t element_type, const std::vector<uint32_t>& dims, const std::string& elements);
std::string ImageBytes(uint32_t count, uint32_t height, uint32_t width);  // pixel i of the file is i mod 251
std::string LabelBytes(const std::vector<uint8_t>& labels);
std::string Gzip(const std::string& content);

class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path Write(const std::string& name, const std::string& content) const;

 private:
  std::filesystem::path path_;
};

}  // namespace muster::testing
