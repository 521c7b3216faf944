// What each folder of src/ must have: its own static library and a README.
#include <gtest/gtest.h>

#include "tests/structure/rooms.h"

namespace muster::structure {
namespace {

const std::filesystem::path kCheckout = MUSTER_SOURCE_DIR;

// The folders below src/ that hold sources, relative to src/.
std::set<std::string> SourceFolders() {
  std::set<std::string> folders;
  for (const std::string& file : FilesBelow(kCheckout, "src")) {
    if (!file.ends_with(".h") && !file.ends_with(".cc") && !file.ends_with(".cu")) continue;
    folders.insert(std::filesystem::path(file).parent_path().lexically_relative("src").generic_string());
  }
  return folders;
}

std::set<std::string> RoomsInUse() {
  const Rooms rooms = Rooms::Parse(ReadText(kCheckout / "tests/structure/rooms.txt"));
  std::set<std::string> used;
  for (const std::string& folder : SourceFolders()) {
    EXPECT_NE(rooms.RoomOf(folder + "/x.h"), "") << "src/" << folder << " is no room of tests/structure/rooms.txt";
    used.insert(rooms.RoomOf(folder + "/x.h"));
  }
  return used;
}

TEST(Folders, EachRoomIsOneStaticLibrary) {
  for (const std::string& room : RoomsInUse()) {
    const std::filesystem::path lists = kCheckout / "src" / room / "CMakeLists.txt";
    ASSERT_TRUE(std::filesystem::exists(lists)) << lists;
    const std::string text = ReadText(lists);
    const std::string name = room.substr(room.find('/') + 1);
    EXPECT_NE(text.find("muster_library(" + name), std::string::npos) << "src/" << room << " makes no library " << name;
    EXPECT_EQ(text.find("muster_library("), text.rfind("muster_library(")) << "src/" << room << ": several libraries";
    EXPECT_EQ(text.find("add_library("), std::string::npos) << "src/" << room << ": use muster_library";
  }
}

// A README of its own, or, for a folder inside a room, a line in the README above it.
TEST(Folders, EachSourceFolderSaysWhatLivesInIt) {
  for (const std::string& folder : SourceFolders()) {
    const std::filesystem::path path = kCheckout / "src" / folder;
    if (std::filesystem::exists(path / "README.md")) continue;
    const std::filesystem::path above = path.parent_path() / "README.md";
    const std::string mention = path.filename().string() + "/";
    EXPECT_TRUE(std::filesystem::exists(above) && ReadText(above).find(mention) != std::string::npos)
        << "src/" << folder << " has no README.md, and the one above does not tell of " << mention;
  }
}

}  // namespace
}  // namespace muster::structure
