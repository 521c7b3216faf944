// The update operations: element by element over everything the variable's memory holds, the padding of an opaque
// layout included (variable, slots and gradient then share that layout). Formulas: tests/data/golden/optimizers.json.
#include <cmath>

#include "backend/cpu/apply_simd.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/parallel.h"
#include "base/check.h"

namespace muster::cpu {
namespace {

// What the loops get, computed in double from the operation's scalars by their input numbers.
using ScalarsFn = UpdateScalars (*)(const LaunchArgs& args);

// An operation's form: how many slots follow the variable, where its gradient is, and its scalars.
struct Form {
  UpdateRule rule;
  int slots;
  int grad;
  ScalarsFn scalars;
};

double Scalar(const LaunchArgs& a, int i) { return static_cast<double>(*a.in<float>(i)); }

template <typename... Values>
UpdateScalars Floats(Values... values) {
  return {static_cast<float>(values)...};
}

UpdateScalars RMSPropScalars(const LaunchArgs& a, int first) {
  return Floats(Scalar(a, first), 1 - Scalar(a, first + 1), Scalar(a, first + 2), Scalar(a, first + 3));
}

Form FormOf(OpKind kind, bool nesterov) {
  switch (kind) {
    case OpKind::kApplyGradientDescent:
      return {UpdateRule::kGradientDescent, 0, 2, [](const LaunchArgs& a) { return Floats(Scalar(a, 1)); }};
    case OpKind::kApplyMomentum:
      return {nesterov ? UpdateRule::kNesterov : UpdateRule::kMomentum, 1, 3,
              [](const LaunchArgs& a) { return Floats(Scalar(a, 2), Scalar(a, 4)); }};
    case OpKind::kApplyRMSProp:
      return {UpdateRule::kRMSProp, 2, 7, [](const LaunchArgs& a) { return RMSPropScalars(a, 3); }};
    case OpKind::kApplyCenteredRMSProp:
      return {UpdateRule::kCenteredRMSProp, 3, 8, [](const LaunchArgs& a) { return RMSPropScalars(a, 4); }};
    case OpKind::kApplyAdam:
      return {nesterov ? UpdateRule::kNesterovAdam : UpdateRule::kAdam, 2, 9, [](const LaunchArgs& a) {
                const double alpha = Scalar(a, 5) * std::sqrt(1 - Scalar(a, 4)) / (1 - Scalar(a, 3));
                return Floats(alpha, 1 - Scalar(a, 6), 1 - Scalar(a, 7), Scalar(a, 8), Scalar(a, 6));
              }};
    case OpKind::kApplyAdaMax:
      return {UpdateRule::kAdaMax, 2, 8, [](const LaunchArgs& a) {
                return Floats(Scalar(a, 4) / (1 - Scalar(a, 3)), 1 - Scalar(a, 5), Scalar(a, 6), Scalar(a, 7));
              }};
    case OpKind::kApplyAdagrad:
      return {UpdateRule::kAdagrad, 1, 3, [](const LaunchArgs& a) { return Floats(Scalar(a, 2)); }};
    case OpKind::kApplyAdadelta:
      return {UpdateRule::kAdadelta, 2, 6,
              [](const LaunchArgs& a) { return Floats(Scalar(a, 3), Scalar(a, 4), 1 - Scalar(a, 4), Scalar(a, 5)); }};
    case OpKind::kApplyFtrl:
      return {UpdateRule::kFtrl, 2, 3, [](const LaunchArgs& a) {
                return Floats(1 / Scalar(a, 4), Scalar(a, 5), 2 * Scalar(a, 6), -Scalar(a, 7));
              }};
    case OpKind::kApplyProximalGradientDescent:
      return {UpdateRule::kProximalGradientDescent, 0, 4, [](const LaunchArgs& a) {
                return Floats(Scalar(a, 1), Scalar(a, 1) * Scalar(a, 2), 1 / (1 + Scalar(a, 1) * Scalar(a, 3)));
              }};
    default: MUSTER_CHECK(false);
  }
}

}  // namespace

PreparedKernel PrepareApply(const KernelRequest& r, const DeviceCaps& caps) {
  const ApplyAttrs& attrs = r.attr<ApplyAttrs>();
  const Form form = FormOf(r.kind, attrs.use_nesterov);
  const int decay = attrs.has_weight_decay ? static_cast<int>(r.inputs.size()) - 1 : -1;
  const int64_t size = ValuesIn(r.inputs[0]);
  for (int i = 1; i <= form.slots; ++i) MUSTER_CHECK(r.inputs[static_cast<size_t>(i)].layout == r.inputs[0].layout);
  MUSTER_CHECK(r.inputs[static_cast<size_t>(form.grad)].layout == r.inputs[0].layout);
  return {MakeKernel([=, threads = caps.threads, update = GetUpdate(form.rule)](const LaunchArgs& a) {
    const UpdateScalars scalars = form.scalars(a);
    const float weight_decay = decay < 0 ? 0 : *a.in<float>(decay);
    ParallelFor(threads, size, GrainFor(8 * (form.slots + 1) + 4), [&](int64_t begin, int64_t end) {
      UpdateArrays arrays{a.ref<float>(0) + begin, {}, a.in<float>(form.grad) + begin, weight_decay};
      for (int i = 0; i < form.slots; ++i) arrays.slots[static_cast<size_t>(i)] = a.ref<float>(i + 1) + begin;
      update(arrays, scalars, end - begin);
    });
  })};
}

}  // namespace muster::cpu
