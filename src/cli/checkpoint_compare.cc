#include "cli/checkpoint_compare.h"

#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "core/tensor_element.h"
#include "data/format/bundle_reader.h"

namespace muster::cli {
namespace {

using data::BundleEntry;
using data::BundleReader;

double Distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double distance = std::abs(a - b);
  return std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}

std::string TypeOf(const BundleEntry& entry) { return data::DataTypeName(entry.data_type) + entry.shape.ToString(); }

// Of one element. Integers are compared as such: doubles cannot tell large neighbours apart.
double DistanceAt(const Tensor& a, const Tensor& b, size_t i) {
  const double distance = Distance(ElementAsDouble(a, i), ElementAsDouble(b, i));
  const bool differ = a.dtype() == DType::kInt64 && a.data<int64_t>()[i] != b.data<int64_t>()[i];
  return differ ? std::max(distance, 1.0) : distance;
}

void CompareNumbers(const Tensor& a, const Tensor& b, double tolerance, TensorDifference* difference) {
  difference->of = a.shape().num_elements();
  for (size_t i = 0; i < static_cast<size_t>(difference->of); ++i) {
    const double distance = DistanceAt(a, b, i);
    difference->largest = std::max(difference->largest, distance);
    if (distance > tolerance) ++difference->elements;
  }
}

// Whether there is a difference; it is described then.
bool Differ(const BundleReader& a, const BundleReader& b, const BundleEntry& in_a, double tolerance,
            TensorDifference* difference) {
  const BundleEntry& in_b = *b.Find(in_a.name);
  if (in_a.data_type != in_b.data_type || !(in_a.shape == in_b.shape)) {
    difference->what = fmt::format("{} and {}", TypeOf(in_a), TypeOf(in_b));
    return true;
  }
  if (data::DTypeOfDataType(in_a.data_type)) {
    CompareNumbers(a.Read(in_a.name), b.Read(in_a.name), tolerance, difference);
    return difference->elements > 0;
  }
  a.Verify(in_a);
  b.Verify(in_b);
  const bool has_slices = !in_a.slices.empty() || !in_b.slices.empty();  // then the entry's own checksum is of nothing
  if (!has_slices && in_a.crc == in_b.crc && in_a.size == in_b.size) return false;
  difference->what = has_slices ? "not compared: slices of a type that Muster does not have" : "other bytes";
  return true;
}

}  // namespace

Comparison CompareCheckpoints(const std::string& path_a, const std::string& path_b, double tolerance) {
  const BundleReader a(path_a), b(path_b);
  std::set<std::string> names;
  for (const BundleReader* bundle : {&a, &b})
    for (const BundleEntry& entry : bundle->entries()) names.insert(entry.name);
  Comparison comparison;
  for (const std::string& name : names) {
    TensorDifference difference{.name = name};
    const BundleEntry *in_a = a.Find(name), *in_b = b.Find(name);
    if (in_a == nullptr || in_b == nullptr) {
      difference.what = in_a == nullptr ? "only in B" : "only in A";
      comparison.differences.push_back(difference);
      continue;
    }
    ++comparison.tensors;
    if (Differ(a, b, *in_a, tolerance, &difference)) comparison.differences.push_back(difference);
  }
  return comparison;
}

}  // namespace muster::cli
