#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "muster/scope.h"

namespace muster {

// How the learning rate follows the number of finished steps. The rules are TensorFlow 1's tf.train.*_decay, in
// float32 as there; s is the step, D decay_steps. Formulas and samples: tests/data/golden/schedules.json.
namespace schedules {

struct Constant {
  double rate = 0;
};
// rate * factor^(s/D); staircase: with floor(s/D).
struct Exponential {
  double rate = 0;
  int64_t decay_steps = 1;
  double factor = 1;
  bool staircase = false;
};
// rates[i] while s <= boundaries[i], the last rate after them: one rate more than boundaries.
struct Piecewise {
  std::vector<int64_t> boundaries;  // ascending
  std::vector<double> rates;
};
// (rate - end) (1 - s/D)^power + end; s stops at D, or with cycle D grows to the next multiple.
struct Polynomial {
  double rate = 0;
  int64_t decay_steps = 1;
  double end_rate = 0.0001;
  double power = 1;
  bool cycle = false;
};
// rate ((1 - alpha) (1 + cos(pi s/D))/2 + alpha).
struct Cosine {
  double rate = 0;
  int64_t decay_steps = 1;
  double alpha = 0;
};
// Cosines whose length grows by t_mul and whose peak changes by m_mul at each restart (Loshchilov and Hutter 2016).
struct CosineRestarts {
  double rate = 0;
  int64_t first_decay_steps = 1;
  double t_mul = 2, m_mul = 1, alpha = 0;
};
// rate ((alpha + (D - s)/D) (1 + cos(2 pi num_periods s/D))/2 + beta).
struct LinearCosine {
  double rate = 0;
  int64_t decay_steps = 1;
  double num_periods = 0.5, alpha = 0, beta = 0.001;
};
// rate exp(-decay s/D); staircase as above.
struct NaturalExp {
  double rate = 0;
  int64_t decay_steps = 1;
  double decay = 0;
  bool staircase = false;
};
// rate / (1 + decay s/D).
struct InverseTime {
  double rate = 0;
  int64_t decay_steps = 1;
  double decay = 0;
  bool staircase = false;
};

}  // namespace schedules

// A rule, and what tf_cnn_benchmarks puts around it: a floor, and a linear warm-up to start with. A value; it can be
// evaluated for one step, or built into a graph, by the same formula.
struct Schedule {
  std::variant<schedules::Constant, schedules::Exponential, schedules::Piecewise, schedules::Polynomial,
               schedules::Cosine, schedules::CosineRestarts, schedules::LinearCosine, schedules::NaturalExp,
               schedules::InverseTime>
      rule;
  double minimum_rate = 0;   // the rule's rate is never below this
  int64_t warmup_steps = 0;  // before this step the rate is warmup_rate * s / warmup_steps
  double warmup_rate = 0;
};

// Throws InvalidArgument saying what is wrong with a schedule: decay steps below 1, boundaries that do not ascend, …
void CheckSchedule(const Schedule& schedule);

// The rate that the step with this number uses (the first step is 0).
double RateAt(const Schedule& schedule, int64_t step);

// The same as a float32 scalar of the graph. global_step is an integer scalar.
Output BuildRate(const Scope& scope, const Schedule& schedule, Output global_step);

}  // namespace muster
