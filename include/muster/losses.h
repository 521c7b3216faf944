#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "muster/variables.h"

namespace muster {

// Mean over the batch of the cross entropy between softmax(logits) [batch, classes] and labels int32/int64 [batch].
// With label smoothing s > 0 the target is (1 - s) on the label plus s / classes everywhere (Szegedy et al. 2015).
Output SoftmaxCrossEntropyMean(const Scope& scope, Output logits, Output labels, double label_smoothing = 0);

// Whether weight decay covers a variable of this name: all but those whose name contains "batchnorm".
bool HasWeightDecay(std::string_view variable_name);

// Sum of w^2/2 over the variables that weight decay covers, a scalar; invalid if there is none. "single_op"
// concatenates them first (--single_l2_loss_op); the value is the same. Half-precision variables are summed in float32.
Output L2LossOfVariables(const Scope& scope, const std::vector<Variable>& variables, bool single_op = false);

// How weight decay enters a tower's loss. tf_cnn_benchmarks computes it on one tower only and multiplies it by the
// number of towers, so that their mean is right.
struct WeightDecay {
  double rate = 0;  // 0: none
  int num_towers = 1;
  bool single_op = false;
  // If set, no gradient flows through the decay: each variable that it covers is handed over instead, and whoever takes
  // it adds num_towers * rate * variable to its gradient. So the decay of variables that several towers have can be
  // part of the update.
  std::function<void(const Variable& variable)> defer{};
};
// base_loss + num_towers * rate * L2LossOfVariables(variables); base_loss itself if there is nothing to add.
Output AddWeightDecay(const Scope& scope, Output base_loss, const std::vector<Variable>& variables,
                      const WeightDecay& decay);

// The number (float32 scalar) of rows of logits whose label is among the k largest.
Output TopKCorrect(const Scope& scope, Output logits, Output labels, int k);

}  // namespace muster
