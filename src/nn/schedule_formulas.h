#pragma once

#include "muster/schedule.h"

namespace muster::schedules {

// The formula of every schedule, written once over "Math": an algebra of float32 numbers (schedule.cc) or of graph
// outputs (schedule_graph.cc). It offers
//   Real                     with + - * / between Reals
//   Real Number(double)      a constant, rounded to float32
//   Real Step()              the step as float32
//   Condition AtMost(int64), Below(int64)   comparisons of the exact step
//   Real Choose(Condition, Real, Real)
//   Real Pow(Real, Real), Exp, Log, Cos, Floor, Ceil, Min
// Operations come in TensorFlow's order, so that float32 rounding agrees: (1 + cos) cancels near the end of a cosine.

// x / divisor the way TensorFlow's optimizer leaves it: times the float32 reciprocal. Near the end of a polynomial
// the two differ in the fifth digit.
template <typename Math>
typename Math::Real Divide(Math& math, typename Math::Real x, int64_t divisor) {
  return x * math.Number(1.0f / static_cast<float>(divisor));
}

// How many decay periods have passed. Whole ones are counted by division, which is exact.
template <typename Math>
typename Math::Real Periods(Math& math, int64_t decay_steps, bool staircase) {
  if (!staircase) return Divide(math, math.Step(), decay_steps);
  return math.Floor(math.Step() / math.Number(static_cast<double>(decay_steps)));
}

template <typename Math>
typename Math::Real ClampedStep(Math& math, int64_t decay_steps) {
  return math.Min(math.Step(), math.Number(static_cast<double>(decay_steps)));
}

// (1 + cos(pi x)) / 2.
template <typename Math>
typename Math::Real HalfCosine(Math& math, typename Math::Real x) {
  constexpr double kPi = 3.14159265358979323846;
  return math.Number(0.5) * (math.Number(1) + math.Cos(math.Number(kPi) * x));
}

template <typename Math>
typename Math::Real Rate(Math& math, const Constant& s) {
  return math.Number(s.rate);
}

template <typename Math>
typename Math::Real Rate(Math& math, const Exponential& s) {
  return math.Number(s.rate) * math.Pow(math.Number(s.factor), Periods(math, s.decay_steps, s.staircase));
}

template <typename Math>
typename Math::Real Rate(Math& math, const Piecewise& s) {
  auto rate = math.Number(s.rates.back());
  for (size_t i = s.boundaries.size(); i-- > 0;)
    rate = math.Choose(math.AtMost(s.boundaries[i]), math.Number(s.rates[i]), rate);
  return rate;
}

template <typename Math>
typename Math::Real Rate(Math& math, const Polynomial& s) {
  auto done = Divide(math, ClampedStep(math, s.decay_steps), s.decay_steps);
  if (s.cycle) {
    // At step 0 the first cycle counts, although 0 steps are rounded up to none.
    const auto decay_steps = math.Number(static_cast<double>(s.decay_steps));
    const auto cycles = math.Choose(math.AtMost(0), math.Number(1), math.Ceil(math.Step() / decay_steps));
    done = math.Step() / (decay_steps * cycles);
  }
  const auto left = math.Number(1) - done;
  return math.Number(s.rate - s.end_rate) * math.Pow(left, math.Number(s.power)) + math.Number(s.end_rate);
}

template <typename Math>
typename Math::Real Rate(Math& math, const Cosine& s) {
  const auto done = Divide(math, ClampedStep(math, s.decay_steps), s.decay_steps);
  const auto decayed = math.Number(1 - s.alpha) * HalfCosine(math, done) + math.Number(s.alpha);
  return math.Number(s.rate) * decayed;
}

template <typename Math>
typename Math::Real Rate(Math& math, const CosineRestarts& s) {
  auto done = Periods(math, s.first_decay_steps, false);
  auto restarts = math.Floor(done);
  if (s.t_mul == 1) {
    done = done - restarts;
  } else {
    // The cycles have lengths 1, t, t^2, …: restart i begins at (1 - t^i) / (1 - t).
    const auto one = math.Number(1), t = math.Number(s.t_mul), one_less_t = math.Number(1 - s.t_mul);
    restarts = math.Floor(math.Log(one - done * one_less_t) / math.Log(t));
    const auto length = math.Pow(t, restarts);
    done = (done - (one - length) / one_less_t) / length;
  }
  const auto peak = math.Pow(math.Number(s.m_mul), restarts);
  const auto decayed = math.Number(1 - s.alpha) * (peak * HalfCosine(math, done)) + math.Number(s.alpha);
  return math.Number(s.rate) * decayed;
}

template <typename Math>
typename Math::Real Rate(Math& math, const LinearCosine& s) {
  const auto decay_steps = math.Number(static_cast<double>(s.decay_steps));
  const auto step = ClampedStep(math, s.decay_steps);
  const auto linear = Divide(math, decay_steps - step, s.decay_steps);
  const auto periods = math.Number(2 * s.num_periods) * Divide(math, step, s.decay_steps);
  const auto decayed = (math.Number(s.alpha) + linear) * HalfCosine(math, periods) + math.Number(s.beta);
  return math.Number(s.rate) * decayed;
}

template <typename Math>
typename Math::Real Rate(Math& math, const NaturalExp& s) {
  return math.Number(s.rate) * math.Exp(math.Number(-s.decay) * Periods(math, s.decay_steps, s.staircase));
}

template <typename Math>
typename Math::Real Rate(Math& math, const InverseTime& s) {
  return math.Number(s.rate) / (math.Number(1) + math.Number(s.decay) * Periods(math, s.decay_steps, s.staircase));
}

// A whole schedule: rule, floor, warm-up.
template <typename Math>
typename Math::Real WholeRate(Math& math, const Schedule& schedule) {
  auto rate = std::visit([&](const auto& rule) { return Rate(math, rule); }, schedule.rule);
  if (schedule.minimum_rate != 0) rate = math.Max(rate, math.Number(schedule.minimum_rate));
  if (schedule.warmup_steps <= 0) return rate;
  const auto warm = Divide(math, math.Number(schedule.warmup_rate) * math.Step(), schedule.warmup_steps);
  return math.Choose(math.Below(schedule.warmup_steps), warm, rate);
}

}  // namespace muster::schedules
