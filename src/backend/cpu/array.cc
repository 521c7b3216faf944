// Transpose, Concat, Pack, Split, Slice, Pad, Tile and BroadcastTo: each is a few strided copies.
#include "backend/cpu/kernels.h"
#include "backend/cpu/strided_copy.h"

namespace muster::cpu {
namespace {

// A copy between places of the node's tensors.
struct Step {
  enum class Source { kInput, kOutput, kConstant };
  StridedCopy copy;
  Source source = Source::kInput;
  int from_index = 0, to_index = 0;        // of the input (or output) and the output
  int64_t from_offset = 0, to_offset = 0;  // elements
};

template <typename T>
PreparedKernel StepsKernel(std::vector<Step> steps, int threads, T constant) {
  return {MakeKernel([steps = std::move(steps), threads, constant](const LaunchArgs& a) {
    for (const Step& step : steps) {
      if (a.outputs[step.to_index] == nullptr) continue;
      const T* from = step.source == Step::Source::kConstant ? &constant
                      : step.source == Step::Source::kOutput ? a.out<T>(step.from_index)
                                                             : a.in<T>(step.from_index);
      step.copy.Run(from + step.from_offset, a.out<T>(step.to_index) + step.to_offset, threads);
    }
  })};
}

// "dtype" is float32, float16 or bfloat16.
PreparedKernel RunSteps(std::vector<Step> steps, DType dtype, int threads, double constant = 0) {
  const float value = static_cast<float>(constant);
  if (dtype == DType::kFloat32) return StepsKernel(std::move(steps), threads, value);
  return StepsKernel(std::move(steps), threads,
                     dtype == DType::kFloat16 ? ToFloat16(value).bits : ToBFloat16(value).bits);
}

// The box of shape "box" inside arrays with these strides.
StridedCopy BoxCopy(const Shape& box, const std::vector<int64_t>& to, const std::vector<int64_t>& from) {
  std::vector<CopyAxis> axes;
  for (int i = 0; i < box.rank(); ++i)
    axes.push_back({box[i], to[static_cast<size_t>(i)], from[static_cast<size_t>(i)]});
  return StridedCopy(axes);
}

size_t At(int axis) { return static_cast<size_t>(axis); }

class PadSteps {
 public:
  PadSteps(const Shape& in, const Shape& out, const PadAttrs& attrs)
      : in_(in), out_(out), attrs_(attrs), to_(StridesOf(out)), from_(StridesOf(in)) {}

  std::vector<Step> Make() {
    Step inside{BoxCopy(in_, to_, from_)};
    for (int axis = 0; axis < in_.rank(); ++axis) inside.to_offset += Before(axis) * to_[At(axis)];
    steps_.push_back(std::move(inside));
    // From the last axis on, so that a mirrored slab is whole in the axes behind its own.
    for (int axis = in_.rank() - 1; axis >= 0; --axis) {
      AddSlab(axis, Before(axis), true);
      AddSlab(axis, attrs_.paddings[At(axis)].second, false);
    }
    return std::move(steps_);
  }

 private:
  int64_t Before(int axis) const { return attrs_.paddings[At(axis)].first; }

  // The padding at one end of an axis: over the inside of earlier axes and all of later ones.
  void AddSlab(int axis, int64_t thickness, bool at_front) {
    if (thickness == 0) return;
    const bool constant = attrs_.mode == PadMode::kConstant;
    std::vector<CopyAxis> axes;
    int64_t corner = 0;
    for (int i = 0; i < in_.rank(); ++i) {
      const int64_t stride = to_[At(i)];
      if (i < axis) corner += Before(i) * stride;
      axes.push_back({i < axis ? in_[i] : out_[i], stride, constant ? 0 : stride});
    }
    const int64_t stride = to_[At(axis)], first = at_front ? 0 : Before(axis) + in_[axis];
    axes[At(axis)] = {thickness, stride, constant ? 0 : -stride};
    Step step{StridedCopy(axes), constant ? Step::Source::kConstant : Step::Source::kOutput};
    step.to_offset = corner + first * stride;
    if (!constant) {
      // Target "first" mirrors the cell as far on the other side of the edge; REFLECT leaves out the edge itself.
      const int64_t skip = attrs_.mode == PadMode::kReflect ? 1 : 0;
      const int64_t source = at_front ? Before(axis) + thickness - 1 + skip : first - 1 - skip;
      step.from_offset = corner + source * stride;
    }
    steps_.push_back(std::move(step));
  }

  const Shape &in_, &out_;
  const PadAttrs& attrs_;
  const std::vector<int64_t> to_, from_;
  std::vector<Step> steps_;
};

}  // namespace

PreparedKernel PrepareTranspose(const KernelRequest& r, const DeviceCaps& caps) {
  const auto& perm = r.attr<TransposeAttrs>().perm;
  const auto in = StridesOf(r.in(0)), to = StridesOf(r.out(0));
  std::vector<int64_t> from;
  for (int axis : perm) from.push_back(in[At(axis)]);
  return RunSteps({{BoxCopy(r.out(0), to, from)}}, r.inputs[0].dtype, caps.threads);
}

// Pack is Concat of tensors with a new axis of size 1.
PreparedKernel PrepareConcat(const KernelRequest& r, const DeviceCaps& caps) {
  const int axis = r.attr<AxisAttrs>().axis;
  const auto to = StridesOf(r.out(0));
  std::vector<Step> steps;
  int64_t position = 0;
  for (int i = 0; i < static_cast<int>(r.inputs.size()); ++i) {
    const Shape box = r.kind == OpKind::kPack ? r.in(i).Inserted(axis, 1) : r.in(i);
    steps.push_back({BoxCopy(box, to, StridesOf(box)), Step::Source::kInput, i, 0, 0, position * to[At(axis)]});
    position += box[axis];
  }
  return RunSteps(std::move(steps), r.inputs[0].dtype, caps.threads);
}

PreparedKernel PrepareSplit(const KernelRequest& r, const DeviceCaps& caps) {
  const int axis = r.attr<SplitAttrs>().axis;
  const auto from = StridesOf(r.in(0));
  std::vector<Step> steps;
  int64_t position = 0;
  for (int i = 0; i < static_cast<int>(r.outputs.size()); ++i) {
    steps.push_back(
        {BoxCopy(r.out(i), StridesOf(r.out(i)), from), Step::Source::kInput, 0, i, position * from[At(axis)], 0});
    position += r.out(i)[axis];
  }
  return RunSteps(std::move(steps), r.inputs[0].dtype, caps.threads);
}

PreparedKernel PrepareSlice(const KernelRequest& r, const DeviceCaps& caps) {
  const auto& begin = r.attr<SliceAttrs>().begin;
  const auto from = StridesOf(r.in(0));
  Step step{BoxCopy(r.out(0), StridesOf(r.out(0)), from)};
  for (int axis = 0; axis < r.in(0).rank(); ++axis) step.from_offset += begin[At(axis)] * from[At(axis)];
  return RunSteps({std::move(step)}, r.inputs[0].dtype, caps.threads);
}

PreparedKernel PreparePad(const KernelRequest& r, const DeviceCaps& caps) {
  const auto& attrs = r.attr<PadAttrs>();
  return RunSteps(PadSteps(r.in(0), r.out(0), attrs).Make(), r.inputs[0].dtype, caps.threads, attrs.constant);
}

PreparedKernel PrepareTile(const KernelRequest& r, const DeviceCaps& caps) {
  const auto& multiples = r.attr<TileAttrs>().multiples;
  const auto to = StridesOf(r.out(0)), from = StridesOf(r.in(0));
  std::vector<CopyAxis> axes;
  for (int i = 0; i < r.in(0).rank(); ++i) {
    axes.push_back({multiples[At(i)], to[At(i)] * r.in(0)[i], 0});
    axes.push_back({r.in(0)[i], to[At(i)], from[At(i)]});
  }
  return RunSteps({{StridedCopy(axes)}}, r.inputs[0].dtype, caps.threads);
}

PreparedKernel PrepareBroadcastTo(const KernelRequest& r, const DeviceCaps& caps) {
  const Shape &in = r.in(0), &out = r.out(0);
  const auto strides = StridesOf(in);
  const int added = out.rank() - in.rank();
  std::vector<int64_t> from(At(out.rank()));
  for (int i = added; i < out.rank(); ++i) from[At(i)] = in[i - added] == 1 ? 0 : strides[At(i - added)];
  return RunSteps({{BoxCopy(out, StridesOf(out), from)}}, r.inputs[0].dtype, caps.threads);
}

}  // namespace muster::cpu
