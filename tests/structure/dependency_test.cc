// The direction of dependencies: the includes of src/ and include/ against the table in rooms.txt.
#include <gtest/gtest.h>

#include "tests/structure/rooms.h"

namespace muster::structure {
namespace {

const std::filesystem::path kCheckout = MUSTER_SOURCE_DIR;

const Rooms& TheRooms() {
  static const Rooms rooms = Rooms::Parse(ReadText(kCheckout / "tests/structure/rooms.txt"));
  return rooms;
}

bool IsSource(const std::string& file) {
  return file.ends_with(".h") || file.ends_with(".cc") || file.ends_with(".cu") || file.ends_with(".cuh");
}

TEST(Dependencies, EveryIncludeObeysTheTableOfRooms) {
  int files = 0;
  for (const char* top : {"src", "include"}) {
    for (const std::string& file : FilesBelow(kCheckout, top)) {
      if (!IsSource(file)) continue;
      ++files;
      for (const Violation& v : CheckIncludes(TheRooms(), file, ReadText(kCheckout / file))) {
        ADD_FAILURE() << v.file << ":" << v.line << ": " << v.why;
      }
    }
  }
  EXPECT_GT(files, 10);
}

// The same table for the libraries that CMake links, so that a forbidden room is not even reachable.
TEST(Dependencies, EveryLinkedRoomObeysTheTableOfRooms) {
  for (const std::string& room : TheRooms().names()) {
    const std::filesystem::path lists = kCheckout / "src" / room / "CMakeLists.txt";
    if (!std::filesystem::exists(lists)) continue;
    const std::string text = ReadText(lists);
    for (const std::string& other : TheRooms().names()) {
      std::string target = other.substr(other.find('/') + 1);
      const size_t deps = text.find("DEPS");
      if (deps == std::string::npos) continue;
      std::string list = text.substr(deps + 4, text.find_first_of(")", deps) - deps - 4);
      list = " " + list.substr(0, list.find("LIBS")) + " ";
      if (list.find(" " + target + " ") == std::string::npos) continue;
      EXPECT_TRUE(TheRooms().MayInclude(room, other)) << "src/" << room << "/CMakeLists.txt: DEPS names " << target;
    }
  }
}

constexpr char kSmallTable[] = "base | | error.h\ncore | base | shape.h\ngraph | core | ops/\n";

TEST(CheckIncludes, FindsAnIncludeAgainstTheDirection) {
  const auto found = CheckIncludes(Rooms::Parse(kSmallTable), "src/core/x.cc", "// x\n#include \"graph/node.h\"\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].line, 2);
  EXPECT_EQ(found[0].why, "core may not include \"graph/node.h\" of graph");
}

TEST(CheckIncludes, FindsAPublicHeaderOfALaterRoom) {
  EXPECT_EQ(CheckIncludes(Rooms::Parse(kSmallTable), "src/base/x.cc", "#include \"muster/shape.h\"\n").size(), 1u);
  EXPECT_EQ(CheckIncludes(Rooms::Parse(kSmallTable), "src/base/x.cc", "#include \"muster/ops/nn.h\"\n").size(), 1u);
}

TEST(CheckIncludes, FindsAnInternalIncludeInAPublicHeader) {
  const auto found = CheckIncludes(Rooms::Parse(kSmallTable), "include/muster/shape.h", "#include \"base/check.h\"\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].why, "a public header includes the internal \"base/check.h\"");
}

TEST(CheckIncludes, FindsAHeaderThatNobodyListed) {
  EXPECT_EQ(CheckIncludes(Rooms::Parse(kSmallTable), "include/muster/new.h", "").size(), 1u);
  EXPECT_EQ(CheckIncludes(Rooms::Parse(kSmallTable), "src/core/x.cc", "#include \"muster/new.h\"\n").size(), 1u);
}

TEST(CheckIncludes, LeavesLibrariesOutsideMusterAlone) {
  EXPECT_TRUE(CheckIncludes(Rooms::Parse(kSmallTable), "src/core/x.cc", "#include \"hwy/highway.h\"\n").empty());
}

TEST(CheckIncludes, FollowsTheTableThroughOtherRooms) {
  EXPECT_TRUE(CheckIncludes(Rooms::Parse(kSmallTable), "src/graph/ops/x.cc",
                            "#include <vector>\n#include \"muster/error.h\"\n#include \"graph/ops/y.h\"\n")
                  .empty());
}

}  // namespace
}  // namespace muster::structure
