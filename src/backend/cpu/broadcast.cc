#include "backend/cpu/broadcast.h"

#include <array>

#include "backend/cpu/parallel.h"
#include "base/check.h"

namespace muster::cpu {
namespace {

// The output's axes, neighbours merged where both inputs allow it, and each input's step per axis in elements: 0 where
// it is broadcast. The last axis is walked by one loop.
struct Walk {
  struct Axis {
    int64_t size, a, b;
  };
  std::array<Axis, Shape::kMaxRank + 1> axes;
  int rank = 0;

  Walk(const Shape& a, const Shape& b, const Shape& out) {
    int64_t a_step = 1, b_step = 1;
    std::array<Axis, Shape::kMaxRank> reversed;
    int n = 0;
    for (int i = 1; i <= out.rank(); ++i) {
      const int64_t size = out[out.rank() - i];
      const int64_t a_size = i <= a.rank() ? a[a.rank() - i] : 1, b_size = i <= b.rank() ? b[b.rank() - i] : 1;
      const Axis axis{size, a_size == 1 ? 0 : a_step, b_size == 1 ? 0 : b_step};
      a_step *= a_size, b_step *= b_size;
      if (size == 1) continue;
      if (n > 0) {
        Axis& inner = reversed[static_cast<size_t>(n - 1)];
        if (axis.a == inner.a * inner.size && axis.b == inner.b * inner.size) {
          inner.size *= size;
          continue;
        }
      }
      reversed[static_cast<size_t>(n++)] = axis;
    }
    if (n == 0) reversed[static_cast<size_t>(n++)] = {out.num_elements(), 1, 1};
    for (int i = n - 1; i >= 0; --i) axes[static_cast<size_t>(rank++)] = reversed[static_cast<size_t>(i)];
  }

  const Axis& last() const { return axes[static_cast<size_t>(rank - 1)]; }
  int64_t size() const {
    int64_t product = 1;
    for (int i = 0; i < rank; ++i) product *= axes[static_cast<size_t>(i)].size;
    return product;
  }
  // Where row r (all axes but the last) begins in a and b.
  std::pair<int64_t, int64_t> Row(int64_t r) const {
    int64_t a = 0, b = 0;
    for (int i = rank - 2; i >= 0; --i) {
      const Axis& axis = axes[static_cast<size_t>(i)];
      a += r % axis.size * axis.a, b += r % axis.size * axis.b;
      r /= axis.size;
    }
    return {a, b};
  }
};

// Elements [begin, end) of the output.
template <typename T>
void RunRange(const Walk& walk, BinaryFn<T> loop, const T* a, const T* b, T* out, int64_t begin, int64_t end) {
  const Walk::Axis& last = walk.last();
  while (begin < end) {
    const int64_t row = begin / last.size, column = begin % last.size,
                  count = std::min(last.size - column, end - begin);
    const auto [a_row, b_row] = walk.Row(row);
    loop(a + a_row + column * last.a, b + b_row + column * last.b, out + begin, count);
    begin += count;
  }
}

// Opaque forms as flat arrays.
Shape Flat(const TensorDesc& desc, bool opaque) {
  if (!opaque) return desc.shape;
  return desc.shape.num_elements() == 1 && desc.layout.is_plain() ? Shape{} : Shape{ValuesIn(desc)};
}

template <typename T>
std::unique_ptr<Kernel> MakeBroadcast(const Walk& walk, BinaryOp op, int threads) {
  const BinaryLoops<T>& loops = GetElementwiseSimd<T>()[op];
  const BinaryFn<T> loop = walk.last().b == 0 ? loops.b_scalar : walk.last().a == 0 ? loops.a_scalar : loops.both;
  return MakeKernel([=, size = walk.size()](const LaunchArgs& args) {
    ParallelFor(threads, size, GrainFor(3 * static_cast<int64_t>(sizeof(T))), [&](int64_t begin, int64_t end) {
      RunRange(walk, loop, args.in<T>(0), args.in<T>(1), args.out<T>(0), begin, end);
    });
  });
}

}  // namespace

PreparedKernel PrepareBroadcast(const KernelRequest& r, const DeviceCaps& caps, BinaryOp op) {
  const bool opaque = !r.outputs[0].layout.is_plain();
  const Shape a = Flat(r.inputs[0], opaque), b = Flat(r.inputs[1], opaque), out = Flat(r.outputs[0], opaque);
  const Walk walk(a, b, out);
  const int64_t size = walk.size();
  MUSTER_CHECK(size == ValuesIn(r.outputs[0]));
  if (size == 0) return {MakeKernel([](const LaunchArgs&) {})};
  PreparedKernel prepared{r.outputs[0].dtype == DType::kBFloat16 ? MakeBroadcast<BFloat16>(walk, op, caps.threads)
                                                                 : MakeBroadcast<float>(walk, op, caps.threads)};
  // Only an input of the output's size may share its memory: each element is then read where it is written. A single
  // element that meets many others is read again after the first of them was written.
  const auto fits = [&](const Shape& shape) { return shape.num_elements() == out.num_elements(); };
  if (fits(a)) prepared.in_place.push_back({0, 0});
  if (fits(b)) prepared.in_place.push_back({0, 1});
  return prepared;
}

}  // namespace muster::cpu
