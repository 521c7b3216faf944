// Exact arithmetic of updates: the losses that tf_cnn_benchmarks printed for a model of two scalars.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/param_table.h"
#include "tests/bench/two_scalars.h"
#include "tests/testing/golden.h"

namespace muster::bench {
namespace {

using nlohmann::json;

void SetFlags(const json& flags, BenchParams* params) {
  for (const auto& [name, value] : flags.items())
    for (const ParamField& field : BenchParamTable().fields())
      if (field.spec.name == name)
        SetParam(*params, field,
                 ParseFlagValue(field.spec, value.is_string() ? value.get<std::string>() : value.dump()));
}

// The run of a recorded case, in the arithmetic of tf_cnn_benchmarks: a mean with shared variables, a sum otherwise.
TwoScalarsRun RunOf(const json& golden, const json& entry) {
  TwoScalarsRun run;
  run.params.device = "cpu";
  run.params.data_format = "NHWC";
  SetFlags(golden.at("base_flags"), &run.params);
  SetFlags(entry.at("flags"), &run.params);
  if (run.params.variable_update != "parameter_server") run.own.gradient_combine = "sum";
  return run;
}

void ExpectLosses(const TwoScalarsRun& run, const json& wanted, const std::string& what) {
  const std::vector<double> losses = TrainTwoScalars(run);
  for (size_t i = 0; i < losses.size(); ++i) {
    const double expected = wanted.at(i);
    EXPECT_NEAR(losses[i], expected, 1e-5 * std::abs(expected)) << what << ", step " << i + 1;
  }
}

const json& Case(const json& golden, const std::string& name) {
  for (const json& entry : golden.at("cases"))
    if (entry.at("name") == name) return entry;
  throw std::runtime_error("no case " + name);
}

TEST(GoldenUpdateRules, EveryCaseOfOneProcessPrintsThePeersLosses) {
  const json golden = testing::GoldenJson("update_rules.json");
  for (const json& entry : golden.at("cases")) {
    for (const char* device : {"cpu", "gpu"})
      for (const char* backend : {"cpu", "reference"}) {
        TwoScalarsRun run = RunOf(golden, entry);
        run.params.local_parameter_device = device;
        run.backend = backend;
        ExpectLosses(run, entry.at("losses"),
                     entry.at("name").get<std::string>() + " on " + backend + ", parameters on " + device);
      }
  }
}

// On simulated GPUs the order of streams is random, and accesses that nothing orders are errors.
TEST(GoldenUpdateRules, EveryCaseOfOneProcessPrintsThePeersLossesOnSimulatedGpus) {
  const json golden = testing::GoldenJson("update_rules.json");
  for (const json& entry : golden.at("cases")) {
    for (const char* device : {"cpu", "gpu"})
      for (int64_t seed : {0, 1, 2}) {
        TwoScalarsRun run = RunOf(golden, entry);
        run.params.device = "gpu";
        run.params.local_parameter_device = device;
        run.own.simulated_gpus = run.params.num_gpus;
        run.own.gpu_delay_seed = seed;
        run.own.check_hazards = true;
        ExpectLosses(
            run, entry.at("losses"),
            entry.at("name").get<std::string>() + ", seed " + std::to_string(seed) + ", parameters on " + device);
      }
  }
}

struct ExchangeCase {
  const char* mode;
  const char* spec;
  int64_t repacking = 0, small_bytes = 0;
  bool hierarchical = false;
};

// All that may sum the gradients of replicated towers.
std::vector<ExchangeCase> Exchanges(int64_t towers) {
  std::vector<ExchangeCase> cases = {{"replicated", ""},
                                     {"replicated", "pscpu"},
                                     {"replicated", "psgpu"},
                                     {"replicated", "xring"},
                                     {"replicated", "nccl"},
                                     {"replicated", "nccl/xring"},
                                     {"replicated", "nccl/rechd"},
                                     {"replicated", "nccl/pscpu"},
                                     {"replicated", "pscpu/pscpu"},
                                     {"replicated", "", 2},
                                     {"replicated", "xring", 3},
                                     {"replicated", "xring", 0, 1000},
                                     {"collective_all_reduce", "collective"},
                                     {"distributed_all_reduce", "pscpu:1:xring"}};
  if (towers > 1)
    for (const ExchangeCase& more :
         {ExchangeCase{"replicated", "psgpu#2"}, ExchangeCase{"replicated", "pscpu#2"},
          ExchangeCase{"replicated", "xring#2"}, ExchangeCase{"collective_all_reduce", "collective#2"},
          ExchangeCase{"replicated", "", 0, 0, true}})
      cases.push_back(more);
  return cases;
}

void ExpectForEveryExchange(const json& golden, const json& entry, const std::string& combine, const json& wanted,
                            bool simulated = false) {
  TwoScalarsRun run = RunOf(golden, entry);
  if (simulated) {
    run.params.device = "gpu";
    run.own.simulated_gpus = run.params.num_gpus;
    run.own.gpu_delay_seed = 7;
    run.own.check_hazards = true;
  }
  run.own.gradient_combine = combine;
  for (const ExchangeCase& exchange : Exchanges(run.params.num_gpus))
    for (const char* device : {"cpu", "gpu"}) {
      if (simulated && std::string(exchange.spec) == "pscpu#2") continue;  // there is one CPU
      run.params.variable_update = exchange.mode;
      run.params.all_reduce_spec = exchange.spec;
      run.params.gradient_repacking = exchange.repacking;
      run.params.agg_small_grads_max_bytes = exchange.small_bytes;
      run.params.hierarchical_copy = exchange.hierarchical;
      run.params.local_parameter_device = device;
      ExpectLosses(run, wanted,
                   entry.at("name").get<std::string>() + " as " + combine + " by " + exchange.mode + " '" +
                       exchange.spec + "', parameters on " + device);
    }
}

TEST(GoldenUpdateRules, EveryExchangeAddsAsThePeersReplicatedMode) {
  const json golden = testing::GoldenJson("update_rules.json");
  for (const char* name : {"replicated_1_sgd", "replicated_2_sgd", "replicated_2_momentum", "replicated_2_rmsprop",
                           "replicated_2_adam", "replicated_3_sgd"})
    ExpectForEveryExchange(golden, Case(golden, name), "sum", Case(golden, name).at("losses"));
}

TEST(GoldenUpdateRules, EveryExchangeAddsAsThePeersReplicatedModeOnSimulatedGpus) {
  const json golden = testing::GoldenJson("update_rules.json");
  for (const char* name : {"replicated_1_sgd", "replicated_2_momentum", "replicated_3_sgd"})
    ExpectForEveryExchange(golden, Case(golden, name), "sum", Case(golden, name).at("losses"), true);
}

// Replicated towers that average do what towers with shared variables do.
TEST(GoldenUpdateRules, EveryExchangeAveragesAsThePeersParameterServer) {
  const json golden = testing::GoldenJson("update_rules.json");
  for (const char* rest : {"1_sgd", "2_sgd", "2_momentum", "2_rmsprop", "2_adam", "3_sgd"})
    ExpectForEveryExchange(golden, Case(golden, std::string("parameter_server_") + rest), "mean",
                           Case(golden, std::string("parameter_server_") + rest).at("losses"));
}

TEST(GoldenUpdateRules, SharedVariablesCanTakeASumToo) {
  const json golden = testing::GoldenJson("update_rules.json");
  for (const char* rest : {"1_sgd", "2_sgd", "2_momentum", "3_sgd"}) {
    TwoScalarsRun run = RunOf(golden, Case(golden, std::string("parameter_server_") + rest));
    run.own.gradient_combine = "sum";
    ExpectLosses(run, Case(golden, std::string("replicated_") + rest).at("losses"), rest);
  }
}

// loss = mean(x) A B + decay (A^2 + B^2) / 2, by hand, averaged over towers that see the same images in any order.
std::vector<double> ByHand(int64_t towers, int64_t batch, double rate, double decay, bool each_tower_alone) {
  const int64_t copies = each_tower_alone ? towers : 1, images = each_tower_alone ? batch : towers * batch;
  std::vector<double> a(static_cast<size_t>(copies), 1), b(static_cast<size_t>(copies), 2), losses;
  for (int64_t step = 0; step < 4; ++step) {
    double loss = 0;
    for (int64_t c = 0; c < copies; ++c) {
      double mean = 0;
      for (int64_t i = 0; i < images; ++i)
        mean += static_cast<double>(step * towers * batch + i * copies + c - 1) / static_cast<double>(images);
      double &x = a[static_cast<size_t>(c)], &y = b[static_cast<size_t>(c)];
      loss += (mean * x * y + decay * (x * x + y * y) / 2) / static_cast<double>(copies);
      const double dx = mean * y + decay * x, dy = mean * x + decay * y;
      x -= rate * dx;
      y -= rate * dy;
    }
    losses.push_back(loss);
  }
  return losses;
}

TEST(UpdateRules, AMeanIsOneBigBatchByHandAndIndependentTowersDecayTheirOwn) {
  for (int64_t towers : {1, 2, 3})
    for (const char* mode : {"parameter_server", "replicated", "independent"}) {
      TwoScalarsRun run;
      run.params.device = "cpu";
      run.params.num_gpus = towers;
      run.params.batch_size = 2;
      run.params.variable_update = mode;
      run.params.init_learning_rate = 0.0625;
      run.params.weight_decay = 0.0625;
      ExpectLosses(run, ByHand(towers, 2, 0.0625, 0.0625, std::string(mode) == "independent"),
                   std::string(mode) + " of " + std::to_string(towers));
    }
}

}  // namespace
}  // namespace muster::bench
