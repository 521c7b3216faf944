#include "base/json.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/check.h"

namespace muster {

Json::Json() : value_(nullptr) {}
Json::Json(std::nullptr_t) : value_(nullptr) {}
Json::Json(bool value) : value_(value) {}
Json::Json(double value) : value_(value) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(std::initializer_list<Member> members) : value_(std::vector<Member>(members)) {}

Json Json::Array() { return Array({}); }
Json Json::Array(std::initializer_list<Json> items) {
  Json json;
  json.value_ = std::vector<Json>(items);
  return json;
}
Json Json::Object() { return Json(std::initializer_list<Member>()); }

Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json& Json::operator[](std::string_view key) {
  if (std::holds_alternative<std::nullptr_t>(value_)) value_ = std::vector<Member>();
  auto* members = std::get_if<std::vector<Member>>(&value_);
  MUSTER_CHECK(members != nullptr);
  for (Member& member : *members)
    if (member.key == key) return member.value;
  members->push_back({std::string(key), nullptr});
  return members->back().value;
}

void Json::push_back(Json item) {
  if (std::holds_alternative<std::nullptr_t>(value_)) value_ = std::vector<Json>();
  auto* items = std::get_if<std::vector<Json>>(&value_);
  MUSTER_CHECK(items != nullptr);
  items->push_back(std::move(item));
}

// Appends a value's text to "out".
class JsonWriter {
 public:
  JsonWriter(std::string* out, bool one_line) : out_(*out), one_line_(one_line) {}

  void Write(const Json& json) {
    std::visit([this](const auto& value) { WriteValue(value); }, json.value_);
  }

 private:
  template <typename T>
  void WriteValue(const T& scalar) {
    using Library = nlohmann::json;
    out_ += Library(scalar).dump(-1, ' ', false, Library::error_handler_t::replace);
  }

  void WriteValue(const std::vector<Json>& items) {
    Enclose('[', ']', items, [this](const Json& item) { Write(item); });
  }

  void WriteValue(const std::vector<Json::Member>& members) {
    Enclose('{', '}', members, [this](const Json::Member& member) {
      WriteValue(member.key);
      out_ += ": ";
      Write(member.value);
    });
  }

  template <typename Items, typename WriteItem>
  void Enclose(char open, char close, const Items& items, WriteItem write) {
    out_ += open;
    ++depth_;
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += one_line_ ? ", " : ",";
      first = false;
      NewLine();
      write(item);
    }
    --depth_;
    if (!items.empty()) NewLine();
    out_ += close;
  }

  void NewLine() {
    if (!one_line_) out_.append("\n").append(2 * depth_, ' ');
  }

  std::string& out_;
  const bool one_line_;
  size_t depth_ = 0;
};

std::string Json::Text() const {
  std::string text;
  JsonWriter(&text, /*one_line=*/false).Write(*this);
  return text + "\n";
}

std::string Json::Line() const {
  std::string text;
  JsonWriter(&text, /*one_line=*/true).Write(*this);
  return text;
}

}  // namespace muster
