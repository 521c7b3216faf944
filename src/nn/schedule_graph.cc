#include "muster/ops/math.h"
#include "muster/ops/state.h"
#include "muster/schedule.h"
#include "nn/schedule_formulas.h"

namespace muster {
namespace {

// A float32 scalar of a graph, with the operators that formulas use.
struct Expression {
  const Scope* scope;
  Output output;

  friend Expression operator+(Expression a, Expression b) { return {a.scope, ops::Add(*a.scope, a.output, b.output)}; }
  friend Expression operator-(Expression a, Expression b) { return {a.scope, ops::Sub(*a.scope, a.output, b.output)}; }
  friend Expression operator*(Expression a, Expression b) { return {a.scope, ops::Mul(*a.scope, a.output, b.output)}; }
  friend Expression operator/(Expression a, Expression b) { return {a.scope, ops::Div(*a.scope, a.output, b.output)}; }
};

class GraphMath {
 public:
  using Real = Expression;
  GraphMath(const Scope& scope, Output step)
      : scope_(scope), step_(step), real_step_{&scope_, ops::Cast(scope_, step, DType::kFloat32)} {}

  Real Number(double value) const { return {&scope_, ops::ScalarLike(scope_, value, DType::kFloat32)}; }
  Real Step() const { return real_step_; }
  Output AtMost(int64_t bound) const { return ops::LessEqual(scope_, step_, Bound(bound)); }
  Output Below(int64_t bound) const { return ops::Less(scope_, step_, Bound(bound)); }
  Real Choose(Output condition, Real yes, Real no) const {
    return {&scope_, ops::Select(scope_, condition, yes.output, no.output)};
  }
  Real Pow(Real x, Real y) const { return {&scope_, ops::Pow(scope_, x.output, y.output)}; }
  Real Exp(Real x) const { return {&scope_, ops::Exp(scope_, x.output)}; }
  Real Log(Real x) const { return {&scope_, ops::Log(scope_, x.output)}; }
  Real Cos(Real x) const { return {&scope_, ops::Cos(scope_, x.output)}; }
  Real Floor(Real x) const { return {&scope_, ops::Floor(scope_, x.output)}; }
  Real Ceil(Real x) const { return {&scope_, ops::Ceil(scope_, x.output)}; }
  Real Min(Real x, Real y) const { return {&scope_, ops::Minimum(scope_, x.output, y.output)}; }
  Real Max(Real x, Real y) const { return {&scope_, ops::Maximum(scope_, x.output, y.output)}; }

 private:
  Output Bound(int64_t bound) const { return ops::ScalarLike(scope_, static_cast<double>(bound), scope_.dtype(step_)); }

  Scope scope_;
  Output step_;
  Real real_step_;
};

}  // namespace

Output BuildRate(const Scope& scope, const Schedule& schedule, Output global_step) {
  CheckSchedule(schedule);
  GraphMath math(scope.WithName("learning_rate"), global_step);
  return schedules::WholeRate(math, schedule).output;
}

}  // namespace muster
