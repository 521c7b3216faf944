#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace muster::structure {

// The table in rooms.txt: who may include whom, and to which room each public header belongs.
class Rooms {
 public:
  // Throws std::runtime_error naming the line that is not three columns or names an unknown room.
  static Rooms Parse(const std::string& text);

  // The room of a file below src/ ("graph/ops/conv.cc" → "graph"), or of an include such as "core/device.h" or
  // "muster/shape.h"; empty where no room holds it.
  std::string RoomOf(const std::string& path) const;
  // Whether an include such as "hwy/highway.h" starts with no folder of src/: it belongs to a library outside Muster.
  bool IsOutside(const std::string& path) const;
  bool MayInclude(const std::string& from, const std::string& to) const;
  const std::set<std::string>& names() const { return names_; }

 private:
  std::set<std::string> names_;
  std::map<std::string, std::set<std::string>> reachable_;  // a room → itself and all that it may include
  std::map<std::string, std::string> public_headers_;       // "shape.h" or "ops/" → room
};

// A line of a file that includes what its room may not.
struct Violation {
  std::string file;
  int line;
  std::string why;
};

// Checks every quoted include of one file. "path" is relative to the checkout: src/... or include/muster/...
std::vector<Violation> CheckIncludes(const Rooms& rooms, const std::string& path, const std::string& text);

std::string ReadText(const std::filesystem::path& file);

// All regular files below a folder of the checkout, as paths relative to the checkout, sorted.
std::vector<std::string> FilesBelow(const std::filesystem::path& checkout, const std::string& folder);

}  // namespace muster::structure
