#include <fmt/format.h>

#include "base/flags_help.h"
#include "base/interrupt.h"
#include "base/standard_output.h"
#include "bench/flags.h"
#include "bench/loop.h"
#include "bench/model_runner.h"
#include "cli/auto_batch.h"
#include "cli/bench_sweep.h"
#include "cli/commands.h"
#include "cli/dispatch.h"

namespace muster::cli {
namespace {

const char kUsage[] =
    "muster bench [flags]: train (or run) a network on synthetic images and print images per second\n";

// 0 is how the record says "the model's own"; who types a batch size means a number of images.
void RefuseBatchOfNothing(const FlagValues& values) {
  if (!values.is_set("batch_size") || values.GetInt("batch_size") > 0) return;
  throw InvalidArgument(
      fmt::format("flag --batch_size={}: must be at least 1; leave the flag out for the model's own batch size",
                  values.GetInt("batch_size")));
}

}  // namespace

int BenchCommand(const std::vector<std::string>& words) {
  const FlagTable table = bench::PeerFlags().Plus(bench::OwnFlags());
  std::vector<std::string> numbers = words;
  const bool batch_is_largest = TakeAutoBatch(&numbers);
  const FlagValues values = ParseFlags(table, numbers);
  if (values.help() || values.helpfull()) {
    const std::string text = values.help() ? HelpText(kUsage, table) : HelpFullText(kUsage, table);
    WriteStandardOutput(text);
    return kSuccess;
  }
  RejectPositional(values);
  RefuseBatchOfNothing(values);
  if (values.has_value("sweep")) return BenchSweep(table, values, batch_is_largest);
  if (values.has_value("sweep_csv")) throw InvalidArgument("flag --sweep_csv has no meaning without --sweep");

  InterruptScope interrupts;
  bench::StandardConsole console("muster bench: ");
  bench::BenchParams params = bench::ParamsFromFlags(values);
  const bench::OwnParams own = bench::OwnParamsFromFlags(values);
  // Who brings GPUs means to compute on them.
  if (!values.is_set("device") && own.simulated_gpus > 0) params.device = "gpu";
  bench::Surroundings surroundings{.console = console, .words = batch_is_largest ? words : values.words()};
  if (batch_is_largest) {
    params.batch_size = bench::LargestBatchSize(params, own);
    surroundings.notes.push_back(
        fmt::format("--batch_size=auto is {}, the most images per device that fit", params.batch_size));
  }
  const bool took_cpu = !values.is_set("device") && params.device == "cpu";
  if (took_cpu) surroundings.notes.emplace_back("no GPU that Muster can use: taking the CPU");
  const bench::BenchResult result = bench::Run(params, own, bench::MakeModelRunner, std::move(surroundings));
  return result.state == bench::ExitState::kInterrupted ? kInterruptedExitCode : kSuccess;
}

}  // namespace muster::cli
