#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace muster {
namespace {

TEST(Json, ALineIsSpacedAsPythonDoesAndKeepsTheOrder) {
  const Json json = {{"b", 1}, {"a", {{"deep", true}}}, {"list", std::vector<int>{2, 3}}, {"none", nullptr}};
  EXPECT_EQ(json.Line(), R"({"b": 1, "a": {"deep": true}, "list": [2, 3], "none": null})");
}

TEST(Json, ATextHasAValuePerLine) {
  const Json json = {{"a", Json::Array({1, "x"})}, {"b", Json::Array()}, {"c", Json::Object()}};
  EXPECT_EQ(json.Text(), "{\n  \"a\": [\n    1,\n    \"x\"\n  ],\n  \"b\": [],\n  \"c\": {}\n}\n");
}

TEST(Json, AnObjectOfOnePairOfStringsIsAnObject) { EXPECT_EQ((Json{{"a", "b"}}).Line(), R"({"a": "b"})"); }

TEST(Json, MembersAndItemsAreAddedToNullAndSetAgain) {
  Json json;
  json["x"].push_back(1);
  json["x"].push_back("two");
  json["y"] = 2;
  json["y"] = 3;
  EXPECT_EQ(json.Line(), R"({"x": [1, "two"], "y": 3})");
}

TEST(Json, NumbersComeBackAsTheyWere) {
  const double third = 1.0 / 3, tiny = std::numeric_limits<double>::denorm_min();
  const Json json =
      Json::Array({third, tiny, 1.0, std::numeric_limits<int64_t>::min(), std::numeric_limits<uint64_t>::max(), 0.1f});
  const auto read = nlohmann::json::parse(json.Line());
  EXPECT_EQ(read[0].get<double>(), third);
  EXPECT_EQ(read[1].get<double>(), tiny);
  EXPECT_TRUE(read[2].is_number_float());
  EXPECT_EQ(read[3].get<int64_t>(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(read[4].get<uint64_t>(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(read[5].get<float>(), 0.1f);
}

TEST(Json, WhatJsonDoesNotHaveIsNull) {
  EXPECT_EQ(Json::Array({std::nan(""), -INFINITY, std::optional<int>(), std::optional<int>(4)}).Line(),
            "[null, null, null, 4]");
}

TEST(Json, TextFromOutsideIsEscapedAndMadeUtf8) {
  EXPECT_EQ(Json("a\"b\\\n\x01").Line(), R"("a\"b\\\n\u0001")");
  EXPECT_EQ(Json("bad \xff").Line(), "\"bad \xef\xbf\xbd\"");
  EXPECT_EQ((Json{{"key\n\xff", 1}}).Line(), "{\"key\\n\xef\xbf\xbd\": 1}");
}

TEST(Json, ACopyIsItsOwn) {
  Json a = {{"x", 1}};
  Json b = a;
  b["x"] = 2;
  EXPECT_EQ(a.Line() + b.Line(), R"({"x": 1}{"x": 2})");
}

}  // namespace
}  // namespace muster
