#include "muster/device_name.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "muster/error.h"

namespace muster {
namespace {

[[noreturn]] void Fail(std::string_view text, std::string_view part) {
  throw InvalidArgument(
      fmt::format("device \"{}\": cannot read \"{}\"; a device is any of /job:NAME /replica:N /task:N "
                  "/device:TYPE:N (or /cpu:N, /gpu:N), where * leaves a part open",
                  text, part));
}

std::string Upper(std::string_view s) {
  std::string out(s);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::toupper(c); });
  return out;
}

// A letter, then letters, digits and underscores.
bool IsName(std::string_view s) {
  auto word = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !s.empty() && std::isalpha(static_cast<unsigned char>(s[0])) && std::all_of(s.begin(), s.end(), word);
}

// Reads the parts of one device string into a DeviceName.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  DeviceName Read() {
    std::string_view rest = text_;
    if (!rest.empty() && rest[0] == '/') rest.remove_prefix(1);
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('/'), rest.size());
      ReadPart(rest.substr(0, end));
      if (end + 1 == rest.size()) Fail(text_, "/");  // nothing follows the last slash
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return std::move(name_);
  }

 private:
  void ReadPart(std::string_view part) {
    const size_t colon = part.find(':');
    const bool has_value = colon != std::string_view::npos;
    const std::string_view key = part.substr(0, colon);
    const std::string_view value = has_value ? part.substr(colon + 1) : std::string_view();
    const std::string legacy = Upper(key);
    if (legacy == "CPU" || legacy == "GPU") {
      SeeOnce("device", part);
      name_.type = legacy;
      if (has_value) name_.index = Number(part, value);
      return;
    }
    if (!has_value) Fail(text_, part);
    SeeOnce(key, part);
    if (key == "job") {
      name_.job = Name(part, value);
    } else if (key == "replica") {
      name_.replica = Number(part, value);
    } else if (key == "task") {
      name_.task = Number(part, value);
    } else if (key == "device") {
      ReadDevice(part, value);
    } else {
      Fail(text_, part);
    }
  }

  void ReadDevice(std::string_view part, std::string_view value) {
    const size_t colon = value.find(':');
    name_.type = Name(part, value.substr(0, colon));
    if (name_.type) name_.type = Upper(*name_.type);
    if (colon != std::string_view::npos) name_.index = Number(part, value.substr(colon + 1));
  }

  void SeeOnce(std::string_view key, std::string_view part) {
    if (std::find(seen_.begin(), seen_.end(), key) != seen_.end())
      throw InvalidArgument(
          fmt::format("device \"{}\": \"{}\" comes after another {}; name it once", text_, part, key));
    seen_.push_back(key);
  }

  std::optional<std::string> Name(std::string_view part, std::string_view value) const {
    if (value == "*") return std::nullopt;
    if (!IsName(value)) Fail(text_, part);
    return std::string(value);
  }

  std::optional<int> Number(std::string_view part, std::string_view digits) const {
    if (digits == "*") return std::nullopt;
    int value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 0) Fail(text_, part);
    return value;
  }

  std::string_view text_;
  DeviceName name_;
  std::vector<std::string_view> seen_;
};

}  // namespace

DeviceName DeviceName::Parse(std::string_view text) { return Reader(text).Read(); }

DeviceName DeviceName::MergedInto(const DeviceName& outer) const {
  DeviceName merged = *this;
  if (!merged.job) merged.job = outer.job;
  if (!merged.replica) merged.replica = outer.replica;
  if (!merged.task) merged.task = outer.task;
  if (!merged.type) merged.type = outer.type;
  if (!merged.index) merged.index = outer.index;
  return merged;
}

bool DeviceName::Matches(const DeviceName& full) const {
  return (!job || job == full.job) && (!replica || replica == full.replica) && (!task || task == full.task) &&
         (!type || type == full.type) && (!index || index == full.index);
}

std::string DeviceName::ToString() const {
  std::string out;
  if (job) out += "/job:" + *job;
  if (replica) out += fmt::format("/replica:{}", *replica);
  if (task) out += fmt::format("/task:{}", *task);
  if (type) out += fmt::format("/device:{}:{}", *type, index ? std::to_string(*index) : "*");
  else if (index) out += fmt::format("/device:*:{}", *index);
  return out;
}

DeviceName DeviceName::Task() const { return {job, replica, task, std::nullopt, std::nullopt}; }

}  // namespace muster
