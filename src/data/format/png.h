#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace muster::data {

// A PNG picture of 8-bit pixels, row-major: 1 (grey), 3 (RGB) or 4 channels (RGBA). For pictures in event files.
std::string EncodePng(std::span<const uint8_t> pixels, int height, int width, int channels);

}  // namespace muster::data
