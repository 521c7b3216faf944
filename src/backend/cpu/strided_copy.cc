#include "backend/cpu/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/parallel.h"

namespace muster::cpu {
namespace {

constexpr int64_t kTile = 16;  // floats of a cache line
constexpr int64_t kSplitBytes = 64 * 1024;

// Neighbours that advance together become one axis; axes of size 1 go.
std::vector<CopyAxis> Merged(const std::vector<CopyAxis>& axes) {
  std::vector<CopyAxis> merged;
  for (const CopyAxis& axis : axes) {
    if (axis.size == 1) continue;
    if (!merged.empty() && merged.back().to == axis.to * axis.size && merged.back().from == axis.from * axis.size)
      merged.back() = {merged.back().size * axis.size, axis.to, axis.from};
    else merged.push_back(axis);
  }
  return merged;
}

template <typename T>
void CopyLine(const CopyAxis& line, const T* from, T* to, int64_t begin, int64_t end) {
  if (line.to == 1 && line.from == 1) {
    std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin) * sizeof(T));
  } else if (line.to == 1 && line.from == 0) {
    std::fill(to + begin, to + end, *from);
  } else {
    for (int64_t i = begin; i < end; ++i) to[i * line.to] = from[i * line.from];
  }
}

// The source runs along the plane's axis, the target along the line's: tiles keep both within whole cache lines.
template <typename T>
void CopyPlane(const CopyAxis& plane, const CopyAxis& line, const T* from, T* to, int64_t begin, int64_t end) {
  for (int64_t p = 0; p < plane.size; p += kTile) {
    const int64_t p_end = std::min(p + kTile, plane.size);
    for (int64_t l = begin; l < end; l += kTile) {
      const int64_t l_end = std::min(l + kTile, end);
      for (int64_t i = p; i < p_end; ++i)
        for (int64_t j = l; j < l_end; ++j) to[i * plane.to + j * line.to] = from[i * plane.from + j * line.from];
    }
  }
}

}  // namespace

StridedCopy::StridedCopy(const std::vector<CopyAxis>& axes) : outer_(Merged(axes)) {
  if (!outer_.empty()) {
    line_ = outer_.back();
    outer_.pop_back();
  }
  if (line_.from != 1 && line_.from != 0) {
    const auto source_run = std::ranges::find_if(outer_, [](const CopyAxis& axis) { return axis.from == 1; });
    if (source_run != outer_.end()) {
      plane_ = *source_run;
      outer_.erase(source_run);
    }
  }
  for (const CopyAxis& axis : outer_) boxes_ *= axis.size;
  const int64_t bytes = line_.size * plane_.size * static_cast<int64_t>(sizeof(float));
  splits_ = std::clamp<int64_t>(bytes / kSplitBytes, 1, std::max<int64_t>(line_.size / kTile, 1));
}

template <typename T>
void StridedCopy::Run(const T* from, T* to, int threads) const {
  if (line_.size * plane_.size * boxes_ == 0) return;
  const int64_t bytes_per_piece = line_.size * plane_.size * 2 * static_cast<int64_t>(sizeof(T)) / splits_;
  ParallelFor(threads, boxes_ * splits_, GrainFor(bytes_per_piece),
              [&](int64_t begin, int64_t end) { CopyPiece(from, to, begin, end); });
}

template <typename T>
void StridedCopy::CopyPiece(const T* from, T* to, int64_t begin, int64_t end) const {
  for (int64_t piece = begin; piece < end; ++piece) {
    int64_t box = piece / splits_, from_at = 0, to_at = 0;
    for (auto axis = outer_.rbegin(); axis != outer_.rend(); ++axis) {
      from_at += box % axis->size * axis->from, to_at += box % axis->size * axis->to;
      box /= axis->size;
    }
    const int64_t split = piece % splits_;
    const int64_t line_begin = line_.size * split / splits_, line_end = line_.size * (split + 1) / splits_;
    if (plane_.size > 1) CopyPlane(plane_, line_, from + from_at, to + to_at, line_begin, line_end);
    else CopyLine(line_, from + from_at, to + to_at, line_begin, line_end);
  }
}

template void StridedCopy::Run(const float*, float*, int) const;
template void StridedCopy::Run(const uint16_t*, uint16_t*, int) const;

std::vector<int64_t> StridesOf(const Shape& shape) {
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()));
  int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[static_cast<size_t>(axis)] = stride;
    stride *= shape[axis];
  }
  return strides;
}

}  // namespace muster::cpu
