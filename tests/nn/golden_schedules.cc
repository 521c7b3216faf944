#include "tests/nn/golden_schedules.h"

#include <nlohmann/json.hpp>

#include "muster/error.h"

namespace muster::testing {

Schedule ScheduleOf(const std::string& name, const nlohmann::json& args) {
  const auto is = [&](const char* prefix) { return name.rfind(prefix, 0) == 0; };
  const double rate = args.value("lr", 0.0);
  const int64_t steps = args.value("decay_steps", int64_t{1});
  const bool staircase = name.find("staircase") != std::string::npos;
  if (is("exponential")) return {schedules::Exponential{rate, steps, args.at("rate"), staircase}};
  if (is("piecewise")) return {schedules::Piecewise{args.at("boundaries"), args.at("values")}};
  if (is("polynomial"))
    return {schedules::Polynomial{rate, steps, args.at("end"), args.at("power"), args.value("cycle", false)}};
  if (is("cosine_restarts"))
    return {schedules::CosineRestarts{rate, args.at("first_decay_steps"), args.at("t_mul"), args.at("m_mul"),
                                      args.at("alpha")}};
  if (is("cosine")) return {schedules::Cosine{rate, steps, args.at("alpha")}};
  if (is("linear_cosine")) return {schedules::LinearCosine{.rate = rate, .decay_steps = steps}};
  if (is("natural_exp")) return {schedules::NaturalExp{rate, steps, args.at("rate"), staircase}};
  if (is("inverse_time")) return {schedules::InverseTime{rate, steps, args.at("rate"), staircase}};
  throw Unimplemented("no schedule for the golden row " + name);
}

}  // namespace muster::testing
