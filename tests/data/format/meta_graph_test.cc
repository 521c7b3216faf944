#include "data/format/meta_graph.h"

#include <string>

#include <gtest/gtest.h>

namespace muster::data {
namespace {

using namespace std::string_literals;

// The bytes are TensorFlow's (2.21) for the same message, its maps in the order of their keys: "variables" are the
// global ones.
TEST(MetaGraph, HasTensorFlowsBytes) {
  const MetaGraph graph{.graph_def =
                            "\n\t\n\x01"
                            "a\x12\x04NoOp",
                        .variables = {{"w:0", "w/Assign", "w/i:0", "w/read:0", true, true},
                                      {"s:0", "s/Assign", "s/i:0", "s/read:0", false, false}},
                        .filename = "save/Const:0",
                        .save = "save/control_dependency:0",
                        .restore = "save/restore_all",
                        .max_to_keep = 3};
  const std::string w = "\n\x03w:0\x12\x08w/Assign\x1a\x08w/read:02\x05w/i:08\x01"s,
                    s = "\n\x03s:0\x12\x08s/Assign\x1a\x08s/read:02\x05s/i:0"s;
  EXPECT_EQ(MetaGraphBytes(graph),
            "\n\x08*\x06"
            "1.15.0\x12\x0b\n\t\n\x01"
            "a\x12\x04NoOp"
            "\x1a"
            "D\n\x0csave/Const:0\x12\x19save/control_dependency:0\x1a\x10save/restore_all \x03"
            "5\x00@\x1c"
            "F8\x02"s
            "\"7\n\x0flocal_variables\x12$\x12\"\n "s +
                s + "\"=\n\x13trainable_variables\x12&\x12$\n\""s + w + "\"3\n\tvariables\x12&\x12$\n\""s + w);
}

}  // namespace
}  // namespace muster::data
