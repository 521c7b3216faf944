#include "tests/testing/npy.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace muster::testing {
namespace {

constexpr size_t kPreamble = 10;  // magic, version, length of the header

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> dims;
};

[[noreturn]] void Fail(const std::filesystem::path& path, std::string_view what) {
  throw DataLoss(fmt::format("{}: {}", path.string(), what));
}

// What follows "'key':" in the header, which is a Python dictionary written in a fixed form.
std::string_view ValueOf(std::string_view header, std::string_view key, const std::filesystem::path& path) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) Fail(path, fmt::format("the header has no '{}'", key));
  std::string_view value = header.substr(at + key.size() + 3);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value;
}

std::vector<int64_t> ParseDims(std::string_view text, const std::filesystem::path& path) {
  std::vector<int64_t> dims;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    if (*at == '(' || *at == ',' || *at == ' ') {
      ++at;
      continue;
    }
    int64_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc{}) Fail(path, fmt::format("cannot read the shape {}", text));
    dims.push_back(size);
    at = next;
  }
  return dims;
}

Header ParseHeader(std::string_view text, const std::filesystem::path& path) {
  Header header;
  const std::string_view descr = ValueOf(text, "descr", path);
  header.descr = descr.substr(1, descr.find('\'', 1) - 1);
  header.fortran_order = ValueOf(text, "fortran_order", path).starts_with("True");
  const std::string_view shape = ValueOf(text, "shape", path);
  header.dims = ParseDims(shape.substr(0, shape.find(')')), path);
  return header;
}

DType DTypeOfDescr(std::string_view descr, const std::filesystem::path& path) {
  if (descr == "<f4") return DType::kFloat32;
  if (descr == "<f8") return DType::kFloat64;
  if (descr == "<i4" || descr == "<u2") return DType::kInt32;
  if (descr == "<i8") return DType::kInt64;
  if (descr == "|u1") return DType::kUInt8;
  if (descr == "|b1") return DType::kBool;
  Fail(path, fmt::format("element type '{}' is not supported", descr));
}

void WidenUInt16(const char* bytes, Tensor* tensor) {
  for (int32_t& element : tensor->data<int32_t>()) {
    uint16_t value;
    std::memcpy(&value, bytes, sizeof(value));
    element = value;
    bytes += sizeof(value);
  }
}

}  // namespace

Tensor ReadNpy(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw NotFound(fmt::format("{}: cannot be opened", path.string()));
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (bytes.size() < kPreamble || !bytes.starts_with(std::string_view("\x93NUMPY\x01\x00", 8)))
    Fail(path, "not an .npy file of version 1.0");
  const size_t header_size = static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  if (bytes.size() < kPreamble + header_size) Fail(path, "ends inside the header");
  const Header header = ParseHeader(std::string_view(bytes).substr(kPreamble, header_size), path);
  if (header.fortran_order) Fail(path, "is in Fortran order");

  Tensor tensor(DTypeOfDescr(header.descr, path), Shape(std::span<const int64_t>(header.dims)));
  const bool widen = header.descr == "<u2";
  const size_t expected = widen ? tensor.byte_size() / 2 : tensor.byte_size();
  const char* body = bytes.data() + kPreamble + header_size;
  if (bytes.size() - kPreamble - header_size != expected)
    Fail(path, fmt::format("holds {} bytes of data, its shape asks for {}", bytes.size() - kPreamble - header_size,
                           expected));
  if (widen) {
    WidenUInt16(body, &tensor);
  } else {
    std::memcpy(tensor.raw(), body, expected);
  }
  return tensor;
}

}  // namespace muster::testing
