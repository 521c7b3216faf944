#include "tests/backend/cpu_vs_reference/op_cases.h"

namespace muster::testing {
namespace {

// An update's inputs in a row of letters: v a variable or slot of any sign, p one that is positive, g the gradient, and
// a number for each scalar.
struct Update {
  OpKind kind;
  std::string_view letters;
  std::vector<float> scalars;
};

const Update kUpdates[] = {
    {OpKind::kApplyGradientDescent, "vsg", {0.1f}},
    {OpKind::kApplyMomentum, "vvsgs", {0.1f, 0.9f}},
    {OpKind::kApplyRMSProp, "vpvssssg", {0.1f, 0.9f, 0.8f, 1e-3f}},
    {OpKind::kApplyCenteredRMSProp, "v0pvssssg", {0.1f, 0.9f, 0.8f, 1e-3f}},
    {OpKind::kApplyAdam, "vvpssssssg", {0.81f, 0.998f, 0.1f, 0.9f, 0.999f, 1e-3f}},
    {OpKind::kApplyAdaMax, "vvpsssssg", {0.81f, 0.1f, 0.9f, 0.999f, 1e-3f}},
    {OpKind::kApplyAdagrad, "vpsg", {0.1f}},
    {OpKind::kApplyAdadelta, "vppsssg", {0.1f, 0.95f, 1e-3f}},
    {OpKind::kApplyFtrl, "vpvgssss", {0.1f, 0.01f, 0.1f, -0.5f}},
    {OpKind::kApplyFtrl, "vpvgssss", {0.1f, 0.f, 0.1f, -0.4f}},
    {OpKind::kApplyProximalGradientDescent, "vsssg", {0.1f, 0.01f, 0.1f}},
    {OpKind::kApplyProximalGradientDescent, "vsssg", {0.1f, 0.f, 0.1f}},
};

std::vector<Tensor> InputsOf(const Update& update, const Shape& shape) {
  std::vector<Tensor> inputs;
  size_t scalar = 0;
  for (char letter : update.letters) {
    if (letter == 's') inputs.push_back(Tensor::Scalar(update.scalars[scalar++]));
    else if (letter == '0') inputs.push_back(Tensor(DType::kFloat32, shape));
    else inputs.push_back(letter == 'p' ? Random(shape, 0.5, 2) : Random(shape));
  }
  return inputs;
}

}  // namespace

void AddUpdateCases(OpCases* cases) {
  for (const Update& update : kUpdates)
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{3, 3, 4, 7}, Shape{100, 333}})
      for (bool decays : {false, true})
        for (bool nesterov : {false, true}) {
          std::vector<Tensor> inputs = InputsOf(update, shape);
          if (decays) inputs.push_back(Tensor::Scalar(0.01f));
          Add(cases, update.kind, ApplyAttrs{.use_nesterov = nesterov, .has_weight_decay = decays}, inputs);
        }
}

void AddSourceCases(OpCases* cases) {
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{33, 1001}}) {
    Add(cases, OpKind::kFill, FillAttrs{DType::kFloat32, shape, 2.5}, {});
    Add(cases, OpKind::k_Snapshot, NoAttrs{}, {Random(shape)});
    for (OpKind kind : {OpKind::kAssign, OpKind::kAssignAdd, OpKind::kAssignSub})
      Add(cases, kind, NoAttrs{}, {Random(shape), Random(shape)});
    for (OpKind kind : {OpKind::kRandomUniform, OpKind::kRandomStandardNormal, OpKind::kTruncatedNormal})
      Add(cases, kind, RandomAttrs{.shape = shape, .seed = 7}, {});
    Add(cases, OpKind::kRandomUniformInt, RandomAttrs{DType::kInt32, shape, 7, -3, 12}, {});
  }
}

}  // namespace muster::testing
