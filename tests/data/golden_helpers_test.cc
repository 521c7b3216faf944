#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "muster/error.h"
#include "tests/testing/golden.h"
#include "tests/testing/npy.h"

namespace muster::testing {

TEST(Golden, EveryArrayThatTheOperationIndexNamesHasItsShapeAndType) {
  const nlohmann::json index = GoldenJson("ops/index.json");
  int arrays = 0;
  for (const auto& golden_case : index["cases"]) {
    for (const char* side : {"inputs", "outputs"}) {
      for (const auto& [name, array] : golden_case[side].items()) {
        if (!array.contains("file")) continue;
        ++arrays;
        const Tensor tensor = GoldenTensor("ops/" + array["file"].get<std::string>());
        const std::vector<int64_t> dims = array["shape"];
        EXPECT_EQ(tensor.shape(), Shape(std::span<const int64_t>(dims))) << array["file"];
        const std::string dtype = array["dtype"];
        EXPECT_EQ(DTypeName(tensor.dtype()), dtype == "uint16" ? "int32" : dtype) << array["file"];
      }
    }
  }
  EXPECT_GT(arrays, 0);
}

TEST(Npy, ValuesAreInRowMajorOrder) {
  const Tensor labels = GoldenTensor("trajectories/lenet_momentum/labels.npy");
  EXPECT_EQ(labels.shape(), (Shape{4, 16}));
  EXPECT_THAT(labels.data<int32_t>(), ::testing::Each(::testing::AllOf(::testing::Ge(0), ::testing::Lt(10))));
}

TEST(Npy, AMissingFileIsNamed) {
  try {
    GoldenTensor("ops/none.npy");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("ops/none.npy: cannot be opened"));
  }
}

TEST(Npy, ATruncatedBodyIsRefused) {
  const std::string path = ::testing::TempDir() + "short.npy";
  std::ofstream(path, std::ios::binary)
      << std::string("\x93NUMPY\x01\x00\x46\x00", 10)
      << "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }            \n1234";
  try {
    ReadNpy(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("holds 4 bytes of data, its shape asks for 8"));
  }
}

}  // namespace muster::testing
