#include "base/proto_bytes.h"

#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace muster {
namespace {

google::protobuf::Struct StructWith(const std::vector<std::string>& keys) {
  google::protobuf::Struct message;
  for (const std::string& key : keys)
    (*message.mutable_fields())[key].set_number_value(static_cast<double>(key.size()));
  return message;
}

// Files with a GraphDef inside are compared byte by byte, and protobuf's own order of a map's keys differs from process
// to process.
TEST(ProtoBytes, WritesMapsInTheOrderOfTheirKeys) {
  std::vector<std::string> keys;
  for (int i = 10; i < 60; ++i) keys.push_back("key" + std::to_string(i));
  const std::string bytes = ProtoBytes(StructWith(keys));
  std::reverse(keys.begin(), keys.end());
  EXPECT_EQ(ProtoBytes(StructWith(keys)), bytes);
  for (size_t i = 1; i < keys.size(); ++i) EXPECT_LT(bytes.find(keys[i]), bytes.find(keys[i - 1])) << keys[i];
  google::protobuf::Struct read;
  ASSERT_TRUE(read.ParseFromString(bytes));
  EXPECT_EQ(read.fields().size(), keys.size());
}

}  // namespace
}  // namespace muster
