// Checkpoints that TensorFlow wrote: everything in them is read, and written again they are the same bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "core/tensor_element.h"
#include "data/format/bundle_reader.h"
#include "data/format/bundle_writer.h"
#include "tests/data/format/files.h"
#include "tests/testing/idx_files.h"
#include "tests/testing/npy.h"

namespace muster::data {
namespace {

using nlohmann::json;

double NumberOf(const json& value) { return value.is_boolean() ? value.get<bool>() : value.get<double>(); }

void ExpectValues(const json& expected, const Tensor& value, const std::string& name) {
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(ElementAsDouble(value, i), NumberOf(expected[i])) << name << " element " << i;
}

double SumOf(const Tensor& value) {
  double sum = 0;
  for (int64_t i = 0; i < value.shape().num_elements(); ++i) sum += ElementAsDouble(value, static_cast<size_t>(i));
  return sum;
}

// Flat, whatever the table nests.
json Flat(const json& values) {
  json flat = json::array();
  for (const json& v : values)
    for (const json& inner : v.is_array() ? Flat(v) : json::array({v})) flat.push_back(inner);
  return flat;
}

void ExpectEntry(const json& expected, const BundleReader& bundle) {
  const std::string name = expected["key"];
  const BundleEntry* entry = bundle.Find(name);
  ASSERT_NE(entry, nullptr) << name;
  EXPECT_EQ(DataTypeName(entry->data_type), expected["dtype"].get<std::string>()) << name;
  const auto dims = expected["shape"].get<std::vector<int64_t>>();
  EXPECT_EQ(entry->shape, Shape(dims)) << name;
  EXPECT_EQ(entry->shard, expected["shard"].get<int>());
  EXPECT_EQ(entry->offset, expected["offset"].get<int64_t>());
  EXPECT_EQ(entry->size, expected["size"].get<int64_t>());
  EXPECT_EQ(entry->crc, expected["crc32c_masked"].get<uint32_t>());
  EXPECT_NO_THROW(bundle.Verify(*entry)) << name;
  if (expected["dtype"] == "string") {
    EXPECT_EQ(bundle.ReadStrings(name), expected["values"].get<std::vector<std::string>>());
    return;
  }
  const Tensor value = bundle.Read(name);
  const json values =
      expected.contains("values") ? Flat(json::array({expected["values"]})) : Flat(expected["first_values"]);
  if (expected.contains("values")) {
    EXPECT_EQ(static_cast<int64_t>(values.size()), value.shape().num_elements()) << name;
  }
  ExpectValues(values, value, name);
  if (expected.contains("sum_float64")) {
    EXPECT_NEAR(SumOf(value), expected["sum_float64"].get<double>(), 1e-9) << name;
  }
}

class GoldenBundle : public ::testing::TestWithParam<const char*> {
 protected:
  std::string Prefix() const { return GoldenPath(std::string("ckpt/") + GetParam() + "/model.ckpt-7"); }
};

TEST_P(GoldenBundle, EveryTensorHasTheTypeShapeAndValueThatTensorFlowLists) {
  const json contents = testing::GoldenJson("ckpt/contents.json");
  const json& listing = contents["checkpoints"][GetParam()]["listing"];
  const BundleReader bundle(Prefix());
  EXPECT_EQ(bundle.num_shards(), listing["header"]["num_shards"].get<int>());
  size_t tensors = 0;
  for (const json& entry : listing["entries"]) {
    if (entry.contains("key_hex")) continue;  // a slice: part of a tensor
    ExpectEntry(entry, bundle);
    ++tensors;
  }
  EXPECT_EQ(bundle.entries().size(), tensors);
}

// The same order in which TensorFlow saves: by name.
void WriteAgain(const BundleReader& from, const std::string& prefix) {
  BundleWriter writer(prefix, from.num_shards());
  for (const BundleEntry& entry : from.entries()) {
    if (entry.data_type == kStringDataType) {
      writer.AddStrings(entry.name, entry.shape, from.ReadStrings(entry.name), entry.shard);
    } else if (entry.slices.empty()) {
      writer.Add(entry.name, from.Read(entry.name), entry.shard);
    } else {
      const Tensor whole = from.Read(entry.name);
      for (const TensorSlice& slice : entry.slices) {
        Tensor part(whole.dtype(), slice.ShapeIn(entry.shape));
        for (int64_t row = 0; row < part.shape()[0]; ++row)
          for (int64_t column = 0; column < part.shape()[1]; ++column)
            part.data<float>()[static_cast<size_t>(row * part.shape()[1] + column)] =
                whole.data<float>()[static_cast<size_t>((slice.extents[0].start + row) * entry.shape[1] +
                                                        slice.extents[1].start + column)];
        writer.AddSlice(entry.name, entry.shape, slice, part);
      }
    }
  }
  writer.Finish();
}

TEST_P(GoldenBundle, WrittenAgainItIsTheSameBytes) {
  const testing::TempFolder folder;
  const BundleReader from(Prefix());
  WriteAgain(from, (folder.path() / "model.ckpt-7").string());
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    const std::string name = file.path().filename().string();
    EXPECT_TRUE(ReadFile(file.path().string()) == ReadFile(GoldenPath(std::string("ckpt/") + GetParam() + "/" + name)))
        << name;
    ++files;
  }
  EXPECT_EQ(files, from.num_shards() + 1);
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, GoldenBundle, ::testing::Values("small", "two_shards", "partitioned"));

TEST(GoldenBundleSlices, JoinToTheWholeVariable) {
  const BundleReader bundle(GoldenPath("ckpt/partitioned/model.ckpt-7"));
  const Tensor value = bundle.Read("part/weights"),
               expected = testing::ReadNpy(GoldenPath("ckpt/partitioned/part_weights_full.npy"));
  ASSERT_EQ(value.shape(), expected.shape());
  EXPECT_TRUE(std::ranges::equal(value.data<float>(), expected.data<float>()));
}

}  // namespace
}  // namespace muster::data
