#pragma once

#include <filesystem>

#include "muster/tensor.h"

namespace muster::testing {

// Reads an array in NumPy's .npy format, version 1.0, little-endian, C order (format: numpy.lib.format). Element types
// float32, float64, int32, int64, uint8 and bool keep their type; uint16, which Muster has no DType for, is widened to
// int32. Throws Error naming the file and what is wrong with it.
Tensor ReadNpy(const std::filesystem::path& path);

}  // namespace muster::testing
