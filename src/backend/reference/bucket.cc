// Bucket and Unbucket. The planner lets tensors lie in their bucket where it can: then there is nothing to copy.

#include <cstring>

#include "backend/reference/reference_rows.h"
#include "backend/reference/rows.h"
#include "plan/bucket_format.h"

namespace muster {
namespace {

using namespace reference;

// Where a tensor lies in its bucket, and how much room it has up to the next.
struct Part {
  size_t offset, bytes, room;
};

std::vector<Part> PartsOf(const TensorDesc& bucket, const std::vector<TensorDesc>& tensors) {
  const BucketFormat* format = BucketFormatOf(bucket.layout);
  std::vector<Part> parts;
  size_t end = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto bytes = static_cast<size_t>(tensors[i].byte_size());
    const size_t offset = format != nullptr ? static_cast<size_t>(format->offset(i)) : end;
    end = offset + bytes;
    parts.push_back({offset, bytes, bytes});
  }
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i].room =
        (i + 1 < parts.size() ? parts[i + 1].offset : static_cast<size_t>(bucket.byte_size())) - parts[i].offset;
  return parts;
}

PreparedKernel PrepareBucket(const KernelRequest& request, const DeviceCaps&) {
  const std::vector<Part> parts = PartsOf(request.outputs[0], request.inputs);
  return {MakeKernel([=](const LaunchArgs& args) {
            for (size_t i = 0; i < parts.size(); ++i) {
              char* const to = args.out<char>(0) + parts[i].offset;
              const char* const from = args.in<char>(static_cast<int>(i));
              if (from != to) std::memcpy(to, from, parts[i].bytes);
              std::memset(to + parts[i].bytes, 0, parts[i].room - parts[i].bytes);
            }
          }),
          0,
          {}};
}

PreparedKernel PrepareUnbucket(const KernelRequest& request, const DeviceCaps&) {
  const std::vector<Part> parts = PartsOf(request.inputs[0], request.outputs);
  return {MakeKernel([=](const LaunchArgs& args) {
            for (size_t i = 0; i < parts.size(); ++i) {
              const char* const from = args.in<char>(0) + parts[i].offset;
              char* const to = args.out<char>(static_cast<int>(i));
              if (to != nullptr && from != to) std::memcpy(to, from, parts[i].bytes);
            }
          }),
          0,
          {}};
}

}  // namespace

std::vector<KernelRow> ReferenceBucketRows() {
  std::vector<KernelRow> rows;
  AddAllRows(rows, OpKind::kBucket, PrepareBucket);
  AddAllRows(rows, OpKind::kUnbucket, PrepareUnbucket);
  return rows;
}

}  // namespace muster
