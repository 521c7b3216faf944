#include "muster/device_name.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "muster/error.h"

namespace muster {
namespace {

[[noreturn]] void Fail(std::string_view text, std::string_view part) {
  throw InvalidArgument(fmt::format(
      "device \"{}\": cannot read \"{}\"; expected /job:NAME /replica:N /task:N /device:TYPE:N, /cpu:N or /gpu:N", text, part));
}

std::string Upper(std::string_view s) {
  std::string out(s);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::toupper(c); });
  return out;
}

std::optional<int> Number(std::string_view text, std::string_view part, std::string_view digits) {
  if (digits == "*") return std::nullopt;
  int value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 0) Fail(text, part);
  return value;
}

bool IsName(std::string_view s) {
  auto word = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !s.empty() && std::isalpha(static_cast<unsigned char>(s[0])) && std::all_of(s.begin(), s.end(), word);
}

void ReadPart(std::string_view text, std::string_view part, DeviceName* out) {
  const size_t colon = part.find(':');
  if (colon == std::string_view::npos) Fail(text, part);
  const std::string_view key = part.substr(0, colon), value = part.substr(colon + 1);
  if (key == "job") {
    if (value == "*") return;
    if (!IsName(value)) Fail(text, part);
    out->job = std::string(value);
  } else if (key == "replica") {
    out->replica = Number(text, part, value);
  } else if (key == "task") {
    out->task = Number(text, part, value);
  } else if (key == "device") {
    const size_t second = value.find(':');
    const std::string_view type = value.substr(0, second);
    if (type != "*") {
      if (!IsName(type)) Fail(text, part);
      out->type = Upper(type);
    }
    if (second != std::string_view::npos) out->index = Number(text, part, value.substr(second + 1));
  } else if (Upper(key) == "CPU" || Upper(key) == "GPU") {
    out->type = Upper(key);
    out->index = Number(text, part, value);
  } else {
    Fail(text, part);
  }
}

}  // namespace

DeviceName DeviceName::Parse(std::string_view text) {
  DeviceName name;
  std::string_view rest = text;
  while (!rest.empty()) {
    if (rest[0] != '/') Fail(text, rest);
    const size_t end = std::min(rest.find('/', 1), rest.size());
    ReadPart(text, rest.substr(1, end - 1), &name);
    rest.remove_prefix(end);
  }
  return name;
}

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

}  // namespace muster
