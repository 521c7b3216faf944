// MaxPool and AvgPool with their gradients, NHWC, vectors along the channels.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backend/cpu/half_simd.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/pool_simd.h"
#include "base/check.h"
#include "graph/ops/window.h"

namespace muster::cpu {
namespace {

constexpr int64_t kVectorFloats = 16;  // of the widest vectors

// Cells [first, first + count) of an axis.
struct Run {
  int64_t first, count;
};

// The real cells under window o.
Run CellsOf(const WindowAxis& axis, int64_t o) {
  const int64_t begin = std::max<int64_t>(axis.Cell(o, 0), 0),
                end = std::min(axis.Cell(o, axis.size - 1) + 1, axis.input);
  return {begin, std::max<int64_t>(end - begin, 0)};
}

// The windows that hold input cell i.
Run WindowsOf(const WindowAxis& axis, int64_t i) {
  const int64_t last = std::min((i + axis.pad_before) / axis.stride, axis.output - 1);
  // the cell of the last window that ends before i, if not negative
  const int64_t before = i + axis.pad_before - axis.size;
  const int64_t first = before < 0 ? 0 : before / axis.stride + 1;
  return {first, std::max<int64_t>(last - first + 1, 0)};
}

// Whether the windows neither overlap nor leave cells out, but for rows behind the last ones.
bool Tiles(const PoolGeometry& g) {
  return g.h.size == g.h.stride && g.w.size == g.w.stride && g.w.output * g.w.size - g.w.pad_before >= g.w.input;
}

std::vector<float> FactorsOf(const WindowAxis& axis) {
  std::vector<float> factors;
  for (int64_t o = 0; o < axis.output; ++o) factors.push_back(1 / static_cast<float>(CellsOf(axis, o).count));
  return factors;
}

template <typename T>
class PoolKernel final : public Kernel {
 public:
  PoolKernel(OpKind kind, const PoolGeometry& g, int threads) : kind_(kind), g_(g), threads_(threads) {}

  void Launch(const LaunchArgs& a) override {
    switch (kind_) {
      case OpKind::kMaxPoolGrad:
      case OpKind::k_MaxPoolReluGrad:
        return MaxGradient(a.in<T>(0), a.in<T>(2), a.out<T>(0), static_cast<float*>(a.workspace));
      case OpKind::kAvgPoolGrad: return AverageGradient(a.in<T>(0), a.out<T>(0));
      default: return Forward(a.in<T>(0), a.out<T>(0));
    }
  }

  int64_t workspace_bytes() const {
    const bool is_max_gradient = kind_ == OpKind::kMaxPoolGrad || kind_ == OpKind::k_MaxPoolReluGrad;
    return is_max_gradient && adds_in_slab_ ? g_.batch * Splits() * SlabFloats() * static_cast<int64_t>(sizeof(float))
                                            : 0;
  }

 private:
  static constexpr int64_t kSize = sizeof(T);

  int64_t in_row() const { return g_.w.input * g_.channels; }
  int64_t out_row() const { return g_.w.output * g_.channels; }
  PoolWindow Window(const Run& rows, const Run& columns) const {
    return {rows.count, columns.count, in_row(), g_.channels};
  }

  // Rows of the output are independent.
  void Forward(const T* x, T* y) const {
    const int64_t bytes_per_row = out_row() * kSize * std::min(g_.h.size * g_.w.size, g_.h.stride * g_.w.stride + 1);
    ParallelFor(threads_, g_.batch * g_.h.output, GrainFor(bytes_per_row), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        ForwardRow(x + i / g_.h.output * g_.h.input * in_row(), i % g_.h.output, y + i * out_row());
    });
  }

  void ForwardRow(const T* image, int64_t oy, T* y) const {
    const Run rows = CellsOf(g_.h, oy);
    for (int64_t ox = 0; ox < g_.w.output; ++ox, y += g_.channels) {
      const Run columns = CellsOf(g_.w, ox);
      const T* x = image + rows.first * in_row() + columns.first * g_.channels;
      if (kind_ == OpKind::kMaxPool) {
        simd_.max(Window(rows, columns), x, g_.channels, y);
      } else {
        simd_.average(Window(rows, columns), x, 1 / static_cast<float>(rows.count * columns.count), g_.channels, y);
      }
    }
  }

  // Windows overlap, so one thread takes a whole image, or with few images some channels of it.
  void MaxGradient(const T* x, const T* dy, T* dx, float* sums) const {
    const int64_t vectors = Vectors(), splits = Splits();
    const bool small = g_.batch * g_.h.input * in_row() * kSize <= kGrainBytes;
    ParallelItems(threads_, g_.batch * splits, small, [&](int64_t i) {
      const int64_t image = i / splits, split = i % splits;
      const int64_t c = vectors * split / splits * kVectorFloats;
      const int64_t c_end = std::min(vectors * (split + 1) / splits * kVectorFloats, g_.channels);
      const int64_t in = image * g_.h.input * in_row() + c;
      const T* image_dy = dy + image * g_.h.output * out_row() + c;
      if (adds_in_slab_) MaxGradientBySlab(x + in, image_dy, c_end - c, dx + in, sums + i * SlabFloats());
      else MaxGradientOf(x + in, image_dy, c_end - c, dx + in);
    });
  }

  int64_t Vectors() const { return (g_.channels + kVectorFloats - 1) / kVectorFloats; }
  int64_t Splits() const { return g_.batch >= threads_ ? 1 : std::min<int64_t>(Vectors(), threads_); }
  int64_t SlabFloats() const { return g_.h.size * in_row(); }

  // Rows of dx are cleared just before the first window reaches them, while they are about to be in the cache anyway.
  // Windows that do not overlap write their cells, which needs no clearing.
  void MaxGradientOf(const T* x, const T* dy, int64_t channels, T* dx) const {
    const MaxGradientMode mode{tiles_, kind_ == OpKind::k_MaxPoolReluGrad};
    int64_t cleared = 0;
    const auto clear_to = [&](int64_t row_end) {
      for (; cleared < row_end; ++cleared)
        for (int64_t column = 0; column < g_.w.input; ++column)
          std::memset(dx + cleared * in_row() + column * g_.channels, 0, static_cast<size_t>(channels) * sizeof(T));
    };
    for (int64_t oy = 0; oy < g_.h.output; ++oy) {
      const Run rows = CellsOf(g_.h, oy);
      if (tiles_) cleared = rows.first + rows.count;
      else clear_to(rows.first + rows.count);
      for (int64_t ox = 0; ox < g_.w.output; ++ox) {
        const Run columns = CellsOf(g_.w, ox);
        const int64_t at = rows.first * in_row() + columns.first * g_.channels;
        simd_.max_gradient(mode, Window(rows, columns), x + at, dy + oy * out_row() + ox * g_.channels, channels,
                           dx + at);
      }
    }
    clear_to(g_.h.input);
  }

  // The gradients of overlapping windows are added in single precision, in the rows of dx that a row of windows meets;
  // a row is rounded when the last window has passed it.
  void MaxGradientBySlab(const T* x, const T* dy, int64_t channels, T* dx, float* slab) const {
    int64_t first = 0;  // row of dx that the slab begins with
    std::fill_n(slab, SlabFloats(), 0.0f);
    const auto finish_to = [&](int64_t row_end) {
      if (row_end == first) return;
      const int64_t held = std::min(row_end - first, g_.h.size);
      for (int64_t row = 0; row < held; ++row) RoundRow(slab + row * in_row(), channels, dx + (first + row) * in_row());
      std::copy(slab + held * in_row(), slab + SlabFloats(), slab);
      std::fill_n(slab + (g_.h.size - held) * in_row(), held * in_row(), 0.0f);
      for (int64_t row = first + held; row < row_end; ++row)
        RoundRow(slab + (g_.h.size - 1) * in_row(), channels, dx + row * in_row());
      first = row_end;
    };
    for (int64_t oy = 0; oy < g_.h.output; ++oy) {
      const Run rows = CellsOf(g_.h, oy);
      if (rows.count == 0) continue;
      finish_to(rows.first);
      for (int64_t ox = 0; ox < g_.w.output; ++ox) {
        const Run columns = CellsOf(g_.w, ox);
        simd_.max_gradient_sums({false, kind_ == OpKind::k_MaxPoolReluGrad}, Window(rows, columns),
                                x + rows.first * in_row() + columns.first * g_.channels,
                                dy + oy * out_row() + ox * g_.channels, channels, slab + columns.first * g_.channels);
      }
    }
    finish_to(g_.h.input);
  }

  // "channels" of each pixel of a row.
  void RoundRow(const float* sums, int64_t channels, T* dx) const {
    for (int64_t column = 0; column < g_.w.input; ++column)
      round_(sums + column * g_.channels, reinterpret_cast<uint16_t*>(dx + column * g_.channels), channels);
  }

  // Each cell gathers from the windows that hold it, so that rows of dx are independent and written once.
  void AverageGradient(const T* dy, T* dx) const {
    ParallelFor(threads_, g_.batch * g_.h.input, GrainFor(in_row() * 2 * kSize), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        AverageGradientRow(dy + i / g_.h.input * g_.h.output * out_row(), i % g_.h.input, dx + i * in_row());
    });
  }

  void AverageGradientRow(const T* dy, int64_t iy, T* dx) const {
    const Run rows = WindowsOf(g_.h, iy);
    for (int64_t ix = 0; ix < g_.w.input; ++ix, dx += g_.channels) {
      const Run columns = WindowsOf(g_.w, ix);
      simd_.average_gradient({rows.count, columns.count, out_row(), g_.channels},
                             dy + rows.first * out_row() + columns.first * g_.channels,
                             row_factors_.data() + rows.first, column_factors_.data() + columns.first, g_.channels, dx);
    }
  }

  const OpKind kind_;
  const PoolGeometry g_;
  const int threads_;
  const PoolSimd<T>& simd_ = GetPoolSimd<T>();
  const bool tiles_ = Tiles(g_);
  const bool adds_in_slab_ = !std::is_same_v<T, float> && !tiles_;
  void (*const round_)(const float*, uint16_t*, int64_t) = GetHalfSimd().narrow_bfloat16;
  // 1/(cells of a window) is the product of these.
  const std::vector<float> row_factors_ = FactorsOf(g_.h), column_factors_ = FactorsOf(g_.w);
};

template <typename T>
PreparedKernel PreparedPool(OpKind kind, const PoolGeometry& g, int threads) {
  auto kernel = std::make_unique<PoolKernel<T>>(kind, g, threads);
  const int64_t bytes = kernel->workspace_bytes();
  return {std::move(kernel), bytes};
}

}  // namespace

PreparedKernel PreparePool(const KernelRequest& r, const DeviceCaps& caps) {
  const PoolAttrs& attrs = r.attr<PoolAttrs>();
  MUSTER_CHECK(attrs.data_format == DataFormat::kNHWC);
  const PoolGeometry g = PoolGeometryOf(r.kind == OpKind::kAvgPoolGrad ? r.out(0) : r.in(0), attrs);
  return KernelDType(r) == DType::kBFloat16 ? PreparedPool<BFloat16>(r.kind, g, caps.threads)
                                            : PreparedPool<float>(r.kind, g, caps.threads);
}

}  // namespace muster::cpu
