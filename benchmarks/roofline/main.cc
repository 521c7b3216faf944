// How fast could this CPU train ResNet-50? Measures the best that oneDNN does for each convolution and what memory
// gives, and adds up: the time of the convolutions plus the bytes of everything else, each moved once, at full
// bandwidth.
#include <fmt/format.h>
#include <omp.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <oneapi/dnnl/dnnl.hpp>

#include "base/file.h"
#include "base/flags.h"
#include "base/flags_help.h"
#include "benchmarks/roofline/bandwidth.h"
#include "benchmarks/roofline/report.h"
#include "muster/error.h"

namespace muster::roofline {
namespace {

FlagTable Flags() {
  std::vector<FlagSpec> specs;
  specs.push_back({.name = "model",
                   .type = FlagType::kEnum,
                   .default_value = std::string("both"),
                   .help = "network",
                   .enum_values = {"both", "resnet50", "resnet50_v1.5"},
                   .important = true});
  specs.push_back({.name = "batch_size",
                   .type = FlagType::kInteger,
                   .default_value = int64_t{32},
                   .help = "images per step",
                   .lower = 1,
                   .upper = 4096,
                   .important = true});
  specs.push_back({.name = "dtype",
                   .type = FlagType::kEnum,
                   .default_value = std::string("float32"),
                   .help = "of activations and of the weights that convolutions read",
                   .enum_values = {"float32", "bfloat16"},
                   .important = true});
  specs.push_back({.name = "num_threads",
                   .type = FlagType::kInteger,
                   .default_value = int64_t{0},
                   .help = "OpenMP threads; 0: all",
                   .lower = 0,
                   .upper = 4096,
                   .important = true});
  specs.push_back({.name = "repetitions",
                   .type = FlagType::kInteger,
                   .default_value = int64_t{5},
                   .help = "counted runs of each convolution; the median counts",
                   .lower = 1,
                   .upper = 1000,
                   .important = true});
  specs.push_back({.name = "details",
                   .type = FlagType::kBoolean,
                   .default_value = false,
                   .help = "also list each convolution",
                   .important = true});
  specs.push_back(
      {.name = "json", .type = FlagType::kString, .help = "also write the limits to this file", .important = true});
  return FlagTable(std::move(specs));
}

PassTimes MeasureConvolutions(const std::vector<Network>& networks, Precision precision, int64_t batch,
                              int repetitions) {
  PassTimes times;
  for (const Network& network : networks) {
    for (Convolution c : network.convolutions) {
      c.count = 1;
      for (const Pass pass : {Pass::kForward, Pass::kBackwardData, Pass::kBackwardWeights}) {
        if (times.contains({c, pass})) continue;
        times[{c, pass}] = MeasurePass(c, pass, precision, batch, repetitions);
      }
    }
  }
  return times;
}

void Run(const FlagValues& flags) {
  const int64_t batch = flags.GetInt("batch_size");
  const Precision precision = flags.GetString("dtype") == "bfloat16" ? Precision::kBFloat16 : Precision::kFloat32;
  const int repetitions = static_cast<int>(flags.GetInt("repetitions"));
  if (flags.GetInt("num_threads") > 0) omp_set_num_threads(static_cast<int>(flags.GetInt("num_threads")));
  if (const auto file = flags.FindString("json")) CheckWritable(*file);
  std::vector<Network> networks;
  for (const bool v1_5 : {false, true}) {
    Network network = ResNet50(v1_5);
    const std::string& wanted = flags.GetString("model");
    if (wanted == "both" || wanted == network.name) networks.push_back(std::move(network));
  }
  const double bandwidth = MeasureBandwidth(repetitions);
  fmt::print("oneDNN {}, {} threads, {}, memory bandwidth {:.1f} GB/s\n", OneDnnVersion(), omp_get_max_threads(),
             PrecisionName(precision), bandwidth / 1e9);
  std::fflush(stdout);
  const PassTimes times = MeasureConvolutions(networks, precision, batch, repetitions);
  nlohmann::json json = {{"onednn", OneDnnVersion()},
                         {"num_threads", omp_get_max_threads()},
                         {"bandwidth_bytes_per_sec", bandwidth},
                         {"limits", nlohmann::json::array()}};
  for (const Network& network : networks) {
    const double dense = MeasureDense(network.features, network.classes, precision, batch, repetitions);
    const Limit limit = ComputeLimit(network, precision, times, dense, bandwidth, batch);
    if (flags.GetBool("details")) fmt::print("{}", ConvolutionTable(network, times, batch));
    fmt::print("{}", LimitTable(network, precision, limit, batch));
    json["limits"].push_back(LimitJson(network, precision, limit, batch));
  }
  if (const auto file = flags.FindString("json")) WriteFileAtomically(*file, json.dump(2) + "\n");
}

}  // namespace
}  // namespace muster::roofline

int main(int argc, char** argv) {
  using namespace muster;
  try {
    const FlagTable table = roofline::Flags();
    const FlagValues flags = ParseFlags(table, std::vector<std::string>(argv + 1, argv + argc));
    if (flags.help() || flags.helpfull()) {
      fmt::print("{}", HelpText("roofline [flags]: the limit of ResNet-50 training on this CPU", table));
      return 0;
    }
    RejectPositional(flags);
    roofline::Run(flags);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "roofline: {}\n", error.what());
  } catch (const dnnl::error& error) {
    fmt::print(stderr, "roofline: oneDNN: {}\n", error.what());
  }
  return 2;
}
