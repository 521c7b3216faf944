// The random operations: base/random_stream.h says how each element is made.

#include "backend/reference/reference_rows.h"
#include "backend/reference/rows.h"
#include "base/random_stream.h"

namespace muster {
namespace {

using namespace reference;

// Fill(stream, attrs, step, out) draws the whole tensor.
template <auto Fill>
struct RandomKernel {
  template <typename T>
  static PreparedKernel Prepare(const KernelRequest& request, const DeviceCaps&) {
    const RandomAttrs attrs = request.attr<RandomAttrs>();
    const RandomStream stream(request.seed, attrs.seed, request.name);
    const size_t count = static_cast<size_t>(request.out(0).num_elements());
    auto launch = [=](const LaunchArgs& args) { Fill(stream, attrs, args.step, std::span<T>(args.out<T>(0), count)); };
    return {MakeKernel(launch), 0, {}};
  }
};

constexpr auto kUniform = [](const RandomStream& stream, const RandomAttrs&, int64_t step, auto out) {
  stream.FillUniform(step, 0, out);
};
constexpr auto kUniformInt = [](const RandomStream& stream, const RandomAttrs& attrs, int64_t step, auto out) {
  stream.FillUniformInt(step, 0, attrs.minval, attrs.maxval, out);
};
constexpr auto kNormal = [](const RandomStream& stream, const RandomAttrs&, int64_t step, auto out) {
  stream.FillNormal(step, 0, out);
};
constexpr auto kTruncatedNormal = [](const RandomStream& stream, const RandomAttrs&, int64_t step, auto out) {
  stream.FillTruncatedNormal(step, 0, out);
};

}  // namespace

std::vector<KernelRow> ReferenceRandomRows() {
  std::vector<KernelRow> rows;
  AddRows<RandomKernel<kUniform>, float, double>(rows, OpKind::kRandomUniform);
  AddRows<RandomKernel<kUniformInt>, int32_t, int64_t>(rows, OpKind::kRandomUniformInt);
  AddRows<RandomKernel<kNormal>, float, double>(rows, OpKind::kRandomStandardNormal);
  AddRows<RandomKernel<kTruncatedNormal>, float, double>(rows, OpKind::kTruncatedNormal);
  return rows;
}

}  // namespace muster
