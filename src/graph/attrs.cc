#include "muster/attrs.h"

namespace muster {

Attrs::Attrs() = default;
Attrs::Attrs(const Attrs& other) : value_(other.value_ ? std::make_unique<Variant>(*other.value_) : nullptr) {}
Attrs::Attrs(Attrs&& other) noexcept = default;
Attrs& Attrs::operator=(Attrs&& other) noexcept = default;
Attrs::~Attrs() = default;

Attrs& Attrs::operator=(const Attrs& other) {
  if (this != &other) *this = Attrs(other);
  return *this;
}

const Attrs::Variant& Attrs::variant() const {
  static const Variant none;
  return value_ ? *value_ : none;
}

bool operator==(const Attrs& a, const Attrs& b) { return a.variant() == b.variant(); }

template <typename A>
requires kIsAttrs<A> Attrs::Attrs(A attrs) : value_(std::make_unique<Variant>(std::move(attrs))) {}

template <typename A>
const A& Attrs::get() const {
  return std::get<A>(variant());
}

template <typename A>
A& Attrs::get() {
  A* attrs = get_if<A>();
  if (attrs == nullptr) throw std::bad_variant_access();
  return *attrs;
}

template <typename A>
const A* Attrs::get_if() const {
  return std::get_if<A>(&variant());
}

template <typename A>
A* Attrs::get_if() {
  if (!value_) {
    if (!std::is_same_v<A, NoAttrs>) return nullptr;
    value_ = std::make_unique<Variant>();
  }
  return std::get_if<A>(value_.get());
}

#define MUSTER_INSTANTIATE(A)                 \
  template Attrs::Attrs(A attrs);             \
  template const A& Attrs::get<A>() const;    \
  template A& Attrs::get<A>();                \
  template const A* Attrs::get_if<A>() const; \
  template A* Attrs::get_if<A>();
MUSTER_INSTANTIATE(NoAttrs)
MUSTER_ATTRS(MUSTER_INSTANTIATE)
#undef MUSTER_INSTANTIATE

}  // namespace muster
