#include "tests/structure/rooms.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace muster::structure {
namespace {

std::vector<std::string> Words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> Columns(const std::string& line) {
  std::istringstream in(line + "|");
  std::vector<std::string> columns;
  for (std::string column; std::getline(in, column, '|');) columns.push_back(column);
  return columns;
}

// The longest of the keys that is the path itself, or a folder above it.
template <typename Keys>
std::string LongestPrefix(const Keys& keys, const std::string& path) {
  std::string best;
  for (const std::string& key : keys) {
    const bool folder = !key.empty() && key.back() == '/';
    const bool hit = path == key || path.starts_with(folder ? key : key + "/");
    if (hit && key.size() > best.size()) best = key;
  }
  return best;
}

// Follows "may include" to its end.
void Reach(const std::map<std::string, std::vector<std::string>>& direct, const std::string& room,
           std::set<std::string>& reached) {
  if (!reached.insert(room).second) return;
  const auto row = direct.find(room);
  if (row == direct.end()) throw std::runtime_error("rooms.txt: unknown room '" + room + "'");
  for (const std::string& next : row->second) Reach(direct, next, reached);
}

// The file named by an #include "..." line; empty for all other lines.
std::string QuotedInclude(const std::string& line) {
  const size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line[hash] != '#') return "";
  const size_t word = line.find_first_not_of(" \t", hash + 1);
  if (word == std::string::npos || line.compare(word, 7, "include") != 0) return "";
  const size_t open = line.find('"', word);
  const size_t close = open == std::string::npos ? open : line.find('"', open + 1);
  return close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

}  // namespace

Rooms Rooms::Parse(const std::string& text) {
  Rooms rooms;
  std::map<std::string, std::vector<std::string>> direct;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> columns = Columns(line);
    const std::vector<std::string> room = Words(columns[0]);
    if (columns.size() != 3 || room.size() != 1) throw std::runtime_error("rooms.txt: not three columns: " + line);
    direct[room[0]] = Words(columns[1]);
    rooms.names_.insert(room[0]);
    for (const std::string& header : Words(columns[2])) rooms.public_headers_[header] = room[0];
  }
  for (auto& [room, includes] : direct) {
    if (includes == std::vector<std::string>{"*"}) includes.assign(rooms.names_.begin(), rooms.names_.end());
  }
  for (const std::string& room : rooms.names_) Reach(direct, room, rooms.reachable_[room]);
  return rooms;
}

std::string Rooms::RoomOf(const std::string& path) const {
  if (!path.starts_with("muster/")) return LongestPrefix(names_, path);
  std::set<std::string> headers;
  for (const auto& [header, room] : public_headers_) headers.insert(header);
  const std::string header = LongestPrefix(headers, path.substr(7));
  return header.empty() ? "" : public_headers_.at(header);
}

bool Rooms::IsOutside(const std::string& path) const {
  const std::string top = path.substr(0, path.find('/') + 1);
  const auto holds = [&](const std::string& room) { return (room + "/").starts_with(top); };
  return top != "muster/" && std::none_of(names_.begin(), names_.end(), holds);
}

bool Rooms::MayInclude(const std::string& from, const std::string& to) const {
  const auto row = reachable_.find(from);
  return row != reachable_.end() && row->second.contains(to);
}

std::vector<Violation> CheckIncludes(const Rooms& rooms, const std::string& path, const std::string& text) {
  const bool is_public = path.starts_with("include/");
  const std::string from = rooms.RoomOf(is_public ? path.substr(8) : path.substr(4));
  if (from.empty()) return {{path, 1, "belongs to no room of tests/structure/rooms.txt"}};
  std::vector<Violation> violations;
  std::istringstream in(text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::string include = QuotedInclude(line);
    // No include, a file that the build generates, or a library outside Muster.
    if (include.find('/') == std::string::npos || rooms.IsOutside(include)) continue;
    const std::string to = rooms.RoomOf(include);
    if (to.empty()) {
      violations.push_back({path, number, "includes \"" + include + "\", which belongs to no room"});
    } else if (is_public && !include.starts_with("muster/")) {
      violations.push_back({path, number, "a public header includes the internal \"" + include + "\""});
    } else if (!rooms.MayInclude(from, to)) {
      violations.push_back({path, number, from + " may not include \"" + include + "\" of " + to});
    }
  }
  return violations;
}

std::string ReadText(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> FilesBelow(const std::filesystem::path& checkout, const std::string& folder) {
  std::vector<std::string> files;
  if (!std::filesystem::exists(checkout / folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(checkout / folder)) {
    if (entry.is_regular_file()) files.push_back(std::filesystem::relative(entry.path(), checkout).generic_string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace muster::structure
