#include "data/format/tensor_slice.h"

#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "base/check.h"

namespace muster::data {
namespace {

// The numbers and texts of a slice's key, in TensorFlow's "ordered code": the bytes sort as the values do.

// Not negative: how many bytes, then those bytes, the highest first.
void AppendOrdered(std::string* out, uint64_t value) {
  const int bytes = (static_cast<int>(std::bit_width(value)) + 7) / 8;
  out->push_back(static_cast<char>(bytes));
  for (int i = bytes - 1; i >= 0; --i) out->push_back(static_cast<char>(value >> (8 * i)));
}

// Ends with 0 1; so 0 becomes 0 255 inside, and 255 becomes 255 0.
void AppendOrdered(std::string* out, std::string_view text) {
  for (const char c : text) {
    out->push_back(c);
    if (c == '\0') out->push_back('\xff');
    if (c == '\xff') out->push_back('\0');
  }
  out->push_back('\0');
  out->push_back('\1');
}

// Of either sign: n bytes hold 7n - 1 bits, and n ones in front of them (zeros for negative numbers) tell n, in two's
// complement of ten bytes.
void AppendOrderedSigned(std::string* out, int64_t value) {
  const uint64_t magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  const int bits = static_cast<int>(std::bit_width(magnitude)) + 1;
  const int bytes = (bits + 6) / 7;
  std::array<uint8_t, 10> wide{};
  for (size_t i = 0; i < 10; ++i) {
    const size_t shift = 8 * (9 - i);
    wide[i] = shift < 64 ? static_cast<uint8_t>(static_cast<uint64_t>(value) >> shift) : (value < 0 ? 0xff : 0);
  }
  uint8_t* first = wide.data() + 10 - bytes;
  first[0] ^= static_cast<uint8_t>(bytes >= 8 ? 0xff : 0xff00 >> bytes);
  if (bytes > 8) first[1] ^= static_cast<uint8_t>(0xff00 >> (bytes - 8));
  out->append(reinterpret_cast<const char*>(first), static_cast<size_t>(bytes));
}

int64_t LengthIn(const TensorSlice::Extent& extent, int64_t dim) { return extent.length < 0 ? dim : extent.length; }

}  // namespace

bool TensorSlice::FitsInto(const Shape& whole) const {
  if (extents.size() != static_cast<size_t>(whole.rank())) return false;
  for (int axis = 0; axis < whole.rank(); ++axis) {
    const Extent& e = extents[static_cast<size_t>(axis)];
    if (e.length < 0 ? e.start != 0 : e.start < 0 || e.start > whole[axis] || e.length > whole[axis] - e.start)
      return false;
  }
  return true;
}

Shape TensorSlice::ShapeIn(const Shape& whole) const {
  std::vector<int64_t> dims;
  for (int axis = 0; axis < whole.rank(); ++axis)
    dims.push_back(LengthIn(extents[static_cast<size_t>(axis)], whole[axis]));
  return Shape(dims);
}

std::string TensorSlice::ToString() const {
  std::string text;
  for (const Extent& e : extents) {
    if (!text.empty()) text += ':';
    text += e.length < 0 ? "-" : fmt::format("{},{}", e.start, e.length);
  }
  return text;
}

std::string SliceKey(std::string_view name, const TensorSlice& slice) {
  std::string key;
  AppendOrdered(&key, uint64_t{0});
  AppendOrdered(&key, name);
  AppendOrdered(&key, uint64_t{slice.extents.size()});
  for (const TensorSlice::Extent& e : slice.extents) {
    AppendOrderedSigned(&key, e.start);
    AppendOrderedSigned(&key, e.length);
  }
  return key;
}

void CopySlice(const TensorSlice& slice, const Shape& whole, size_t element_bytes, const char* from, char* to) {
  MUSTER_CHECK(slice.FitsInto(whole));
  const Shape part = slice.ShapeIn(whole);
  if (part.num_elements() == 0) return;
  const int rank = whole.rank();
  const size_t row_bytes = (rank == 0 ? 1 : static_cast<size_t>(part[rank - 1])) * element_bytes;
  std::array<int64_t, Shape::kMaxRank> index{};  // of the row, within the slice
  while (true) {
    int64_t target = 0;
    for (int axis = 0; axis < rank; ++axis)
      target = target * whole[axis] + slice.extents[static_cast<size_t>(axis)].start + index[static_cast<size_t>(axis)];
    std::memcpy(to + static_cast<size_t>(target) * element_bytes, from, row_bytes);
    from += row_bytes;
    int axis = rank - 2;
    for (; axis >= 0 && ++index[static_cast<size_t>(axis)] == part[axis]; --axis) index[static_cast<size_t>(axis)] = 0;
    if (axis < 0) return;
  }
}

}  // namespace muster::data
