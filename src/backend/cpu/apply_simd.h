#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// The update rules of optimizers over "n" elements of the variable, its slots and the gradient. Elements of padding,
// whose slots and gradient are 0, stay 0.
namespace muster::cpu {

enum class UpdateRule {
  kGradientDescent,
  kMomentum,
  kNesterov,
  kRMSProp,
  kCenteredRMSProp,
  kAdam,
  kNesterovAdam,
  kAdaMax,
  kAdagrad,
  kAdadelta,
  kFtrl,
  kProximalGradientDescent
};
inline constexpr size_t kNumUpdateRules = 12;

struct UpdateArrays {
  float* var;
  std::array<float*, 3> slots;  // in the operation's order
  const float* grad;
  float weight_decay = 0;  // the rules see grad + weight_decay * var
};

// The operation's scalars in its order, or what is computed from them (see apply.cc).
using UpdateScalars = std::array<float, 5>;

using UpdateFn = void (*)(const UpdateArrays& arrays, const UpdateScalars& scalars, int64_t n);

// For this CPU.
UpdateFn GetUpdate(UpdateRule rule);

}  // namespace muster::cpu
