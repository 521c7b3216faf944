#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "muster/error.h"

namespace muster::fuzz {

// Where this process writes.
inline std::string InputPath() {
  return (std::filesystem::temp_directory_path() / ("muster_fuzz_" + std::to_string(::getpid()))).string();
}

// A file of this process that each input overwrites: InputPath() with an ending. Returns the path without it.
inline std::string WriteInput(const std::string& ending, const char* bytes, size_t size) {
  const std::string path = InputPath();
  std::ofstream(path + ending, std::ios::binary | std::ios::trunc).write(bytes, static_cast<std::streamsize>(size));
  return path;
}

// Damage may only show as an Error of one line.
inline void ExpectOnlyErrors(const std::function<void()>& parse) {
  try {
    parse();
  } catch (const Error& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
  }
}

}  // namespace muster::fuzz
