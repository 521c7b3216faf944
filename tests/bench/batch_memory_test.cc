// A benchmark that does not fit memory: refused with what would fit; --batch_size=auto; --recompute=auto.

#include <gtest/gtest.h>

#include <string>

#include "bench/loop.h"
#include "bench/model_runner.h"
#include "muster/error.h"
#include "tests/testing/idx_files.h"

namespace muster::bench {
namespace {

class SilentConsole : public Console {
 public:
  void Print(const std::string& line) override { lines.push_back(line); }
  void Note(const std::string& line) override { notes += line + "\n"; }
  void Progress(const std::string&) override {}

  std::vector<std::string> lines;
  std::string notes;
};

BenchParams Params(int64_t batch_size) {
  BenchParams params;
  params.device = "cpu";
  params.data_format = "NHWC";
  params.model = "resnet20";
  params.data_name = "cifar10";
  params.batch_size = batch_size;
  params.num_batches = 2;
  params.num_warmup_batches = 0;
  params.init_learning_rate = 0.01;
  return params;
}

OwnParams Within(int64_t limit_mb, const std::string& recompute = "none") {
  OwnParams own;
  own.host_memory_limit_mb = limit_mb;
  own.recompute = recompute;
  return own;
}

struct Finished {
  double loss = 0;
  std::string notes;
};

Finished RunOf(int64_t batch_size, const OwnParams& own) {
  SilentConsole console;
  const BenchResult result = Run(Params(batch_size), own, MakeModelRunner, {.console = console});
  return {result.last_average_loss.value_or(-1), console.notes};
}

std::string RefusalOf(int64_t batch_size, const OwnParams& own) {
  try {
    RunOf(batch_size, own);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kResourceExhausted);
    return error.what();
  }
  return "";
}

// The number behind "--batch_size=" in "...; --batch_size=24 fits".
int64_t BatchThatFits(const std::string& refusal) {
  const std::string flag = "--batch_size=";
  const size_t at = refusal.rfind(flag, refusal.find(" fits"));
  return at == std::string::npos ? -1 : std::stoll(refusal.substr(at + flag.size()));
}

TEST(BatchMemory, ARefusalNamesTheLargestBatchWhichRunsWhileOneImageMoreDoesNot) {
  const OwnParams own = Within(40);
  const std::string refusal = RefusalOf(400, own);
  const int64_t largest = BatchThatFits(refusal);
  ASSERT_GT(largest, 1) << refusal;
  EXPECT_NE(refusal.find("--batch_size=400 needs "), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("on the host, which has 40.0 MiB"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("with --recompute=auto about"), std::string::npos) << refusal;
  EXPECT_EQ(LargestBatchSize(Params(0), own), largest);
  EXPECT_NO_THROW(RunOf(largest, own));
  EXPECT_EQ(BatchThatFits(RefusalOf(largest + 1, own)), largest);
}

TEST(BatchMemory, RecomputationTrainsALargerBatchWithEqualLosses) {
  const int64_t without = LargestBatchSize(Params(0), Within(40));
  const int64_t with = LargestBatchSize(Params(0), Within(40, "auto"));
  EXPECT_GT(static_cast<double>(with), 1.3 * static_cast<double>(without));
  const Finished recomputed = RunOf(with, Within(40, "auto")), kept = RunOf(with, Within(0));
  EXPECT_EQ(recomputed.loss, kept.loss);
  EXPECT_NE(recomputed.notes.find("recompute: "), std::string::npos) << recomputed.notes;
  EXPECT_EQ(kept.notes.find("recompute: "), std::string::npos) << kept.notes;
}

TEST(BatchMemory, TowersRecomputeEachTheirOwn) {
  for (const char* mode : {"parameter_server", "replicated"}) {
    BenchParams params = Params(16);
    params.num_gpus = 2;
    params.variable_update = mode;
    params.local_parameter_device = "cpu";
    SilentConsole kept, recomputed;
    const double loss =
        bench::Run(params, Within(0), MakeModelRunner, {.console = kept}).last_average_loss.value_or(-1);
    EXPECT_EQ(
        bench::Run(params, Within(44, "auto"), MakeModelRunner, {.console = recomputed}).last_average_loss.value_or(-2),
        loss)
        << mode;
    EXPECT_NE(recomputed.notes.find("recompute: "), std::string::npos) << mode << ": " << recomputed.notes;
  }
}

// The plan that computes gradients for summaries keeps its memory beside the step's.
TEST(BatchMemory, GradientsForSummariesAreCounted) {
  const testing::TempFolder folder;
  BenchParams watching = Params(0);
  watching.train_dir = folder.path() / "run";
  watching.save_summaries_steps = 1;
  watching.summary_verbosity = 2;
  const int64_t without = LargestBatchSize(Params(0), Within(40)), with = LargestBatchSize(watching, Within(40));
  EXPECT_LT(with, without);
  watching.batch_size = with + 1;
  SilentConsole console;
  EXPECT_THROW(bench::Run(watching, Within(40), MakeModelRunner, {.console = console}), Error);
  watching.batch_size = with;
  EXPECT_NO_THROW(bench::Run(watching, Within(40), MakeModelRunner, {.console = console}));
}

TEST(BatchMemory, NothingIsRecomputedIfTheStepFits) {
  EXPECT_EQ(RunOf(4, Within(40, "auto")).notes.find("recompute: "), std::string::npos);
}

TEST(BatchMemory, AModelThatCannotFitSaysSo) {
  EXPECT_NE(RefusalOf(4, Within(2)).find("not even a batch of one image fits"), std::string::npos);
  EXPECT_THROW(LargestBatchSize(Params(0), Within(2)), Error);
}

std::string RefusalOf(const BenchParams& params, const OwnParams& own) {
  SilentConsole console;
  try {
    bench::Run(params, own, MakeModelRunner, {.console = console});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(BatchMemory, AnEvaluationThatIsTooLargeIsBlamedOnItsOwnFlag) {
  BenchParams params = Params(4);
  params.eval_during_training_every_n_steps = 1;
  params.num_eval_batches = 1;
  const std::string flag = "; --eval_batch_size=";
  for (const int64_t size : {2000, 1 << 30}) {
    params.eval_batch_size = size;
    const std::string refusal = RefusalOf(params, Within(40));
    EXPECT_EQ(refusal.rfind("--eval_batch_size=" + std::to_string(size) + " needs ", 0), 0u) << refusal;
    const size_t at = refusal.find(flag);
    ASSERT_NE(at, refusal.npos) << refusal;
    params.eval_batch_size = std::stoll(refusal.substr(at + flag.size()));
    EXPECT_EQ(RefusalOf(params, Within(40)), "");
    ++params.eval_batch_size;
    EXPECT_NE(RefusalOf(params, Within(40)), "");
  }
}

TEST(BatchMemory, AnEvaluationInBatchesOfTheTrainingShrinksWithThem) {
  BenchParams params = Params(2000);
  params.eval_during_training_every_n_steps = 1;
  params.num_eval_batches = 1;
  params.batch_size = BatchThatFits(RefusalOf(params, Within(40)));
  ASSERT_GT(params.batch_size, 1);
  EXPECT_EQ(RefusalOf(params, Within(40)), "");
}

TEST(BatchMemory, ImagesBeyondAllMemoryAreRefusedBeforeAnythingIsCompiled) {
  EXPECT_GT(BatchThatFits(RefusalOf(int64_t{1} << 30, Within(40))), 1);
}

// Two towers on simulated GPUs of "limit_mb" each; without a limit of the host.
BenchParams OnTwoGpus(int64_t batch_size) {
  BenchParams params = Params(batch_size);
  params.device = "gpu";
  params.num_gpus = 2;
  params.variable_update = "replicated";
  return params;
}

OwnParams TwoGpus(int64_t limit_mb) {
  OwnParams own;
  own.simulated_gpus = 2;
  own.gpu_memory_limit_mb = limit_mb;
  own.check_hazards = true;
  return own;
}

TEST(BatchMemory, TheLargestBatchTrainsOnCardsWhetherTheirMemoryGrowsOrNot) {
  for (bool grows : {false, true}) {
    BenchParams params = OnTwoGpus(0);
    params.allow_growth = grows;
    params.batch_size = LargestBatchSize(params, TwoGpus(64));
    EXPECT_GT(params.batch_size, 8);
    EXPECT_EQ(RefusalOf(params, TwoGpus(64)), "") << grows;
    ++params.batch_size;
    EXPECT_NE(RefusalOf(params, TwoGpus(64)).find("which has 64.0 MiB; --batch_size="), std::string::npos) << grows;
  }
}

TEST(BatchMemory, SimulatedCardsTakeTheirMemoryFromTheHost) {
  OwnParams own = TwoGpus(0);
  own.host_memory_limit_mb = 60;
  const std::string refusal = RefusalOf(OnTwoGpus(400), own);
  EXPECT_NE(refusal.find("on the host, which has 60.0 MiB"), std::string::npos) << refusal;
  BenchParams params = OnTwoGpus(0);
  params.batch_size = LargestBatchSize(params, own);
  EXPECT_EQ(RefusalOf(params, own), "");
  own.host_memory_limit_mb = 1;
  EXPECT_NE(RefusalOf(OnTwoGpus(1), own).find("on the host, which has 1.0 MiB; not even a batch of one image fits"),
            std::string::npos);
}

TEST(BatchMemory, CardsOnTheHostRecomputeToFitItsLimit) {
  OwnParams own = TwoGpus(0);
  own.host_memory_limit_mb = 60;
  const int64_t without = LargestBatchSize(OnTwoGpus(0), own);
  own.recompute = "auto";
  EXPECT_GT(LargestBatchSize(OnTwoGpus(0), own), without);
  EXPECT_EQ(RefusalOf(OnTwoGpus(without + without / 8), own), "");
}

TEST(BatchMemory, ARefusalBlamesExchangeBuffersOnFlagsOfItsMode) {
  BenchParams params = OnTwoGpus(4);
  const std::string replicated = RefusalOf(params, TwoGpus(1));
  params.variable_update = "parameter_server";
  const std::string shared = RefusalOf(params, TwoGpus(1));
  EXPECT_NE(replicated.find("are exchange buffers (--variable_update, --bucket_mb)"), std::string::npos) << replicated;
  EXPECT_NE(shared.find("are exchange buffers (--variable_update, --local_parameter_device)"), std::string::npos)
      << shared;
}

TEST(BatchMemory, WhatIsCountedAgainstTheLimitIsPrintedBesideThePeak) {
  const Finished run = RunOf(4, Within(40));
  const size_t at = run.notes.find(" MiB, ");
  ASSERT_NE(at, std::string::npos) << run.notes;
  EXPECT_LE(std::stod(run.notes.substr(at + 6)), 40) << run.notes;
  EXPECT_NE(run.notes.find("of them counted against the host's limit"), std::string::npos) << run.notes;
}

TEST(BatchMemory, ALimitAboveWhatIsFreeIsSaidToBeCut) {
  EXPECT_NE(RunOf(4, Within(int64_t{1} << 29)).notes.find("--host_memory_limit_mb=536870912 is more than the "),
            std::string::npos);
  EXPECT_EQ(RunOf(4, Within(40)).notes.find("is more than the"), std::string::npos);
}

// A card that is split is two GPUs to the towers.
TEST(BatchMemory, TwoVirtualDevicesOfOneCardTrainAsTwoCardsDo) {
  OwnParams split;
  split.simulated_gpus = 2;
  split.visible_device_list = "1";
  split.virtual_gpus_mb = "64+64";
  const auto loss = [](const OwnParams& own) {
    SilentConsole console;
    return bench::Run(OnTwoGpus(8), own, MakeModelRunner, {.console = console}).last_average_loss.value_or(-1);
  };
  EXPECT_EQ(loss(split), loss(TwoGpus(64)));
  split.virtual_gpus_mb = "64+9";
  EXPECT_NE(RefusalOf(OnTwoGpus(8), split).find("on /device:GPU:1, which has 9.0 MiB"), std::string::npos);
  split.virtual_gpus_mb = "64";
  EXPECT_EQ(RefusalOf(OnTwoGpus(8), split),
            "flag --num_gpus=2: there is 1 GPU: --simulated_gpus=2 --visible_device_list=1 --virtual_gpus_mb=64");
  split.virtual_gpus_mb = "64+";
  EXPECT_NE(RefusalOf(OnTwoGpus(8), split).find("--virtual_gpus_mb=64+: at character 4 there must be a number"),
            std::string::npos);
}

}  // namespace
}  // namespace muster::bench
