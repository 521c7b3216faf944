#include "muster/schedule.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "muster/error.h"
#include "nn/schedule_formulas.h"

namespace muster {
namespace {

// float32 numbers.
class NumberMath {
 public:
  using Real = float;
  explicit NumberMath(int64_t step) : step_(step) {}

  Real Number(double value) const { return static_cast<Real>(value); }
  Real Step() const { return static_cast<Real>(step_); }
  bool AtMost(int64_t bound) const { return step_ <= bound; }
  bool Below(int64_t bound) const { return step_ < bound; }
  Real Choose(bool condition, Real yes, Real no) const { return condition ? yes : no; }
  Real Pow(Real x, Real y) const { return std::pow(x, y); }
  Real Exp(Real x) const { return std::exp(x); }
  Real Log(Real x) const { return std::log(x); }
  Real Cos(Real x) const { return std::cos(x); }
  Real Floor(Real x) const { return std::floor(x); }
  Real Ceil(Real x) const { return std::ceil(x); }
  Real Min(Real x, Real y) const { return std::min(x, y); }
  Real Max(Real x, Real y) const { return std::max(x, y); }

 private:
  int64_t step_;
};

void CheckDecaySteps(int64_t steps) {
  if (steps < 1)
    throw InvalidArgument(fmt::format("learning-rate schedule: decay steps must be at least 1, got {}", steps));
}

void CheckRule(const schedules::Constant&) {}
void CheckRule(const schedules::CosineRestarts& rule) {
  CheckDecaySteps(rule.first_decay_steps);
  if (!(rule.t_mul > 0)) throw InvalidArgument("learning-rate schedule: t_mul must be positive");
}
void CheckRule(const schedules::Piecewise& rule) {
  if (rule.rates.size() != rule.boundaries.size() + 1)
    throw InvalidArgument(fmt::format("learning-rate schedule: {} boundaries need {} rates, got {}",
                                      rule.boundaries.size(), rule.boundaries.size() + 1, rule.rates.size()));
  if (!std::is_sorted(rule.boundaries.begin(), rule.boundaries.end()))
    throw InvalidArgument("learning-rate schedule: the boundaries must ascend");
}
template <typename Rule>
void CheckRule(const Rule& rule) {
  CheckDecaySteps(rule.decay_steps);
}

}  // namespace

void CheckSchedule(const Schedule& schedule) {
  std::visit([](const auto& rule) { CheckRule(rule); }, schedule.rule);
}

double RateAt(const Schedule& schedule, int64_t step) {
  CheckSchedule(schedule);
  NumberMath math(step);
  return schedules::WholeRate(math, schedule);
}

}  // namespace muster
