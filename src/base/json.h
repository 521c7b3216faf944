#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace muster {

// A JSON value that the program writes: result files, logs, --json. Objects keep their members in the order of
// insertion. Reading is nlohmann's; so are numbers and escapes here, but the code of its templates costs a file that
// includes it five seconds of compiling, and this costs none. A value: not for use by several threads.
class Json {
 public:
  struct Member;

  Json();                // null
  Json(std::nullptr_t);  // null
  Json(bool value);
  template <std::integral T>
  Json(T value);
  Json(double value);
  Json(const char* text);
  Json(std::string text);
  Json(std::string_view text);
  // An object: Json json = {{"steps", 3}, {"host", {{"name", "here"}}}}; The names must differ. Braces copy what is in
  // them: large values are better moved to json["name"].
  Json(std::initializer_list<Member> members);
  // An array of what the vector holds.
  template <typename T>
  Json(const std::vector<T>& items);
  // Null where there is nothing.
  template <typename T>
  Json(const std::optional<T>& value);
  // A pointer would become true.
  Json(const void*) = delete;

  static Json Array();
  static Json Array(std::initializer_list<Json> items);
  static Json Object();

  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  // The member of that name, added at the end as null if there is none. Of an object, or of null, which becomes one.
  // The reference holds until another member is added.
  Json& operator[](std::string_view key);
  // Of an array, or of null, which becomes one.
  void push_back(Json item);

  // A value per line, two spaces deeper in each object or array; ends with a line feed. In all texts bytes that are not
  // UTF-8 are replaced (names come from outside), and numbers that JSON does not have (NaN, infinity) become null.
  std::string Text() const;
  // Without line feeds and spaced as Python's json.dumps does: {"a": 1, "b": [2, 3]}.
  std::string Line() const;

 private:
  std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, std::string, std::vector<Json>, std::vector<Member>>
      value_;

  friend class JsonWriter;
};

struct Json::Member {
  std::string key;
  Json value;
};

template <std::integral T>
Json::Json(T value) : value_(std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>(value)) {}

template <typename T>
Json::Json(const std::vector<T>& items) : Json(Array()) {
  for (const auto& item : items) push_back(item);
}

template <typename T>
Json::Json(const std::optional<T>& value) {
  if (value) *this = Json(*value);
}

}  // namespace muster
