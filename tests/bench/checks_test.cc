#include "bench/checks.h"

#include <gtest/gtest.h>

#include "bench/flags.h"
#include "bench/later.h"
#include "bench/peer_models.h"
#include "muster/error.h"
#include "muster/exchange.h"

namespace muster::bench {
namespace {

// The error of a command line, through the record, as "muster bench" sees it.
std::string ErrorOf(const std::vector<std::string>& words) {
  try {
    CheckParams(ParamsFromFlags(ParseFlags(PeerFlags().Plus(OwnFlags()), words)));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "accepted";
}

struct Case {
  std::vector<std::string> words;
  std::string message;
};

class Refused : public ::testing::TestWithParam<Case> {};

TEST_P(Refused, InOneLine) { EXPECT_EQ(ErrorOf(GetParam().words), GetParam().message); }

INSTANTIATE_TEST_SUITE_P(
    AmountsThatMeanNothing, Refused,
    ::testing::Values(
        Case{{"--save_model_steps=-1"}, "flag --save_model_steps=-1: must be at least 0"},
        Case{{"--save_model_secs=-2"}, "flag --save_model_secs=-2: must be at least 0"},
        Case{{"--save_summaries_steps=-1"}, "flag --save_summaries_steps=-1: must be at least 0"},
        Case{{"--max_ckpts_to_keep=-1"}, "flag --max_ckpts_to_keep=-1: must be at least 0"},
        Case{{"--eval_interval_secs=-1"}, "flag --eval_interval_secs=-1: must be at least 0"},
        Case{{"--stop_at_top_1_accuracy=2"}, "flag --stop_at_top_1_accuracy=2.0: must be 0 to 1"},
        Case{{"--agg_small_grads_max_bytes=-5"}, "flag --agg_small_grads_max_bytes=-5: must be at least 0"},
        Case{{"--agg_small_grads_max_group=0"}, "flag --agg_small_grads_max_group=0: must be at least 1"},
        Case{{"--agg_small_grads_max_group=-3"}, "flag --agg_small_grads_max_group=-3: must be at least 1"},
        Case{{"--summary_verbosity=7"}, "flag --summary_verbosity=7: must be 0 to 3"},
        Case{{"--use_fp16", "--fp16_loss_scale=0"}, "flag --fp16_loss_scale=0.0: must be greater than 0"}));

// Wording recorded in golden/cnn_benchmarks/commands.json.
INSTANTIATE_TEST_SUITE_P(AsThePeerSays, Refused,
                         ::testing::Values(Case{{"--num_batches=5", "--num_epochs=1"},
                                                "At most one of --num_batches and --num_epochs may be specified."},
                                           Case{{"--eval", "--forward_only"},
                                                "Only one of forward_only and eval parameters is true"},
                                           Case{{"--variable_update=replicated", "--job_name=worker"},
                                                "Invalid variable_update in distributed mode: replicated"},
                                           Case{{"--variable_update=independent", "--job_name=worker"},
                                                "Invalid variable_update in distributed mode: independent"},
                                           Case{{"--variable_update=distributed_replicated"},
                                                "Invalid variable_update in local mode: distributed_replicated"},
                                           Case{{"--num_epochs_per_decay=2"},
                                                "If one of num_epochs_per_decay or learning_rate_decay_factor is set, "
                                                "both must be setand learning_rate must be set"},
                                           Case{{"--learning_rate_decay_factor=2", "--init_learning_rate=1"},
                                                "If one of num_epochs_per_decay or learning_rate_decay_factor is set, "
                                                "both must be setand learning_rate must be set"}));

INSTANTIATE_TEST_SUITE_P(
    RateAndPrecision, Refused,
    ::testing::Values(Case{{"--minimum_learning_rate=.1", "--init_learning_rate=1"},
                           "--minimum_learning_rate needs --init_learning_rate, --num_epochs_per_decay and "
                           "--learning_rate_decay_factor"},
                      Case{{"--use_fp16", "--fp16_vars", "--variable_update=replicated", "--all_reduce_spec=nccl"},
                           "--fp16_vars cannot go with NCCL in --all_reduce_spec"},
                      Case{{"--use_fp16", "--fp16_vars", "--gradient_repacking=2"},
                           "--fp16_vars cannot go with --gradient_repacking"},
                      Case{{"--use_fp16", "--fp16_enable_auto_loss_scale", "--all_reduce_spec=nccl/xring"},
                           "--fp16_enable_auto_loss_scale cannot go with NCCL in --all_reduce_spec"},
                      Case{{"--use_fp16", "--fp16_enable_auto_loss_scale", "--variable_update=distributed_replicated"},
                           "--fp16_enable_auto_loss_scale cannot go with --variable_update=distributed_replicated"},
                      Case{{"--use_fp16", "--fp16_enable_auto_loss_scale", "--staged_vars"},
                           "--fp16_enable_auto_loss_scale cannot go with --staged_vars"}));

INSTANTIATE_TEST_SUITE_P(
    Evaluation, Refused,
    ::testing::Values(
        Case{{"--eval_during_training_every_n_steps=1", "--eval_during_training_every_n_epochs=1"},
             "at most one of the --eval_during_training_* flags can be given"},
        Case{{"--eval_during_training_every_n_steps=1", "--eval"}, "--eval_during_training_* cannot go with --eval"},
        Case{{"--eval_during_training_every_n_steps=1", "--forward_only"},
             "--eval_during_training_* cannot go with --forward_only"},
        Case{{"--eval_during_training_every_n_steps=1", "--job_name=worker"},
             "--eval_during_training_* cannot go with --job_name"},
        Case{{"--eval_during_training_every_n_steps=1", "--staged_vars"},
             "--eval_during_training_* cannot go with --staged_vars"},
        Case{{"--eval_during_training_at_specified_steps=1,x"},
             "flag --eval_during_training_at_specified_steps=1,x: 'x' is not a step number"},
        Case{{"--eval_during_training_at_specified_steps=3,-1"},
             "flag --eval_during_training_at_specified_steps=3,-1: '-1' is not a step number: the first is 1"},
        Case{{"--eval_during_training_at_specified_steps=99999999999999999999"},
             "flag --eval_during_training_at_specified_steps=99999999999999999999: '99999999999999999999' is not a "
             "step number"},
        Case{{"--eval_during_training_at_specified_epochs=inf"},
             "flag --eval_during_training_at_specified_epochs=inf: 'inf' is not a finite number of epochs greater than "
             "0"},
        Case{{"--eval_during_training_at_specified_epochs=0.5,-1"},
             "flag --eval_during_training_at_specified_epochs=0.5,-1: '-1' is not a finite number of epochs greater "
             "than 0"},
        Case{{"--eval_during_training_every_n_epochs=-1"},
             "flag --eval_during_training_every_n_epochs=-1.0: must be greater than 0"},
        Case{{"--eval_during_training_at_specified_epochs=1.5,"},
             "flag --eval_during_training_at_specified_epochs=1.5,: '' is not a number of epochs"},
        Case{{"--stop_at_top_1_accuracy=.5"},
             "--stop_at_top_1_accuracy needs one of the --eval_during_training_* flags"},
        Case{{"--collect_eval_results_async"}, "--collect_eval_results_async is for --model=ssd300 only"},
        Case{{"--save_model_secs=1", "--save_model_steps=1"},
             "at most one of --save_model_secs and --save_model_steps can be given"},
        Case{{"--forward_only", "--freeze_when_forward_only", "--train_dir=x"},
             "--freeze_when_forward_only cannot go with --train_dir: frozen weights are not restored"},
        Case{{"--forward_only", "--freeze_when_forward_only", "--job_name=worker"},
             "--freeze_when_forward_only cannot go with --job_name"},
        Case{{"--forward_only", "--freeze_when_forward_only", "--data_dir=x", "--nodatasets_use_prefetch"},
             "--freeze_when_forward_only with --data_dir needs --datasets_use_prefetch"},
        Case{{"--trt_mode=FP32", "--forward_only"}, "--trt_mode needs --forward_only and --freeze_when_forward_only"}));

INSTANTIATE_TEST_SUITE_P(
    Exchange, Refused,
    ::testing::Values(
        Case{{"--variable_update=horovod", "--num_gpus=2"},
             "--variable_update=horovod needs --num_gpus=1 in each process"},
        Case{{"--variable_update=horovod", "--job_name=worker"}, "--variable_update=horovod cannot go with --job_name"},
        Case{{"--network_topology=gcp_v100"}, "--network_topology=gcp_v100 needs --num_gpus=8"},
        Case{{"--hierarchical_copy"}, "--hierarchical_copy needs --num_gpus greater than 1"},
        Case{{"--hierarchical_copy", "--network_topology=gcp_v100", "--num_gpus=4"},
             "--network_topology=gcp_v100 needs --num_gpus=8"},
        Case{{"--variable_update=distributed_all_reduce", "--job_name=worker", "--all_reduce_spec=xring"},
             "--variable_update=distributed_all_reduce with --job_name needs --controller_host"},
        Case{{"--all_reduce_spec=nccl", "--worker_hosts=a:1,b:1"},
             "--all_reduce_spec=nccl works within one process only"},
        Case{{"--staged_vars", "--variable_update=replicated"},
             "--staged_vars needs --variable_update=parameter_server"},
        Case{{"--variable_update=collective_all_reduce", "--nocross_replica_sync", "--all_reduce_spec=collective"},
             "--variable_update=collective_all_reduce needs --cross_replica_sync"},
        Case{{"--variable_update=distributed_replicated", "--nocross_replica_sync", "--job_name=worker"},
             "--variable_update=distributed_replicated needs --cross_replica_sync"},
        Case{{"--variable_update=replicated", "--all_reduce_spec=pscpu:2k:xring"},
             "--variable_update=replicated takes a single algorithm in --all_reduce_spec"},
        Case{{"--variable_update=collective_all_reduce"},
             "--variable_update=collective_all_reduce needs --all_reduce_spec"},
        Case{{"--variable_update=collective_all_reduce", "--all_reduce_spec=xring"},
             "--variable_update=collective_all_reduce needs --all_reduce_spec=collective or collective#2"},
        Case{{"--variable_update=distributed_all_reduce"},
             "--variable_update=distributed_all_reduce needs --all_reduce_spec"},
        Case{{"--all_reduce_spec=xring:2k"},
             "flag --all_reduce_spec=xring:2k: at its end: an algorithm is missing: ALGORITHM:LIMIT:ALGORITHM"},
        Case{{"--all_reduce_spec=pscpu:xring"},
             "flag --all_reduce_spec=pscpu:xring: at character 7: 'xring' is not a size (digits, then K, M, G or T if "
             "you like)"},
        Case{{"--all_reduce_spec=pscpu:two:xring"},
             "flag --all_reduce_spec=pscpu:two:xring: at character 7: 'two' is not a size (digits, then K, M, G or T "
             "if you like)"},
        Case{{"--all_reduce_spec=pscpu#x"},
             "flag --all_reduce_spec=pscpu#x: at character 7: 'x' is not a number of shards"},
        Case{{"--all_reduce_spec=tree"},
             "flag --all_reduce_spec=tree: at character 1: unknown algorithm 'tree'; there are nccl, nccl/xring, "
             "nccl/rechd, "
             "nccl/pscpu, "
             "xring, pscpu, psgpu, pscpu/pscpu, collective"},
        Case{{"--all_reduce_spec=pscpu#2/pscpu"},
             "flag --all_reduce_spec=pscpu#2/pscpu: at character 7: '2/pscpu' is not a number of shards"},
        Case{{"--variable_update=replicated", "--all_reduce_spec=psgpu#3", "--num_gpus=2"},
             "flag --all_reduce_spec: psgpu#3 needs 3 devices, but there are 2"},
        Case{{"--variable_update=replicated", "--all_reduce_spec=xring#2"},
             "flag --all_reduce_spec: xring#2 needs 2 devices, but there is 1"},
        Case{{"--variable_update=replicated", "--all_reduce_spec=collective"},
             "collective in --all_reduce_spec needs --variable_update=collective_all_reduce"},
        Case{{"--gpu_indices=1,x", "--num_gpus=2"},
             "flag --gpu_indices=1,x: at character 3: 'x' is not a device number"},
        Case{{"--gpu_indices=1,1", "--num_gpus=2"},
             "flag --gpu_indices=1,1: must name each of the devices 0 to 1 once"}));

INSTANTIATE_TEST_SUITE_P(
    Optimizers, Refused,
    ::testing::Values(
        Case{{"--momentum=-0.5"}, "flag --momentum=-0.5: must be at least 0 and at most 1"},
        Case{{"--rmsprop_momentum=1.5"}, "flag --rmsprop_momentum=1.5: must be at least 0 and at most 1"},
        Case{{"--rmsprop_decay=-1"}, "flag --rmsprop_decay=-1.0: must be at least 0 and at most 1"},
        Case{{"--rmsprop_epsilon=-1"}, "flag --rmsprop_epsilon=-1.0: must be at least 0"},
        Case{{"--adam_beta1=1"}, "flag --adam_beta1=1.0: must be at least 0 and less than 1"},
        Case{{"--adam_beta2=-0.1"}, "flag --adam_beta2=-0.1: must be at least 0 and less than 1"},
        Case{{"--gradient_clip=0"}, "flag --gradient_clip=0.0: must be greater than 0"},
        Case{{"--init_learning_rate=-1"}, "flag --init_learning_rate=-1.0: must be at least 0"},
        Case{{"--resize_method=crop"},
             "flag --resize_method=crop: value should be one of <round_robin|nearest|bilinear|bicubic|area>"},
        Case{{"--input_preprocessor=x"},
             "flag --input_preprocessor=x: value should be one of <default|official_models_imagenet>"}));

TEST(NoEffectNote, NamesFlagsThatTheRestOfTheRequestLeavesWithoutEffect) {
  const auto note = [](const std::vector<std::string>& words) {
    return NoEffectNote(ParamsFromFlags(ParseFlags(PeerFlags(), words)));
  };
  EXPECT_EQ(note({"--freeze_when_forward_only"}),
            "without effect: --freeze_when_forward_only (without --forward_only)");
  EXPECT_EQ(note({"--freeze_when_forward_only", "--forward_only"}), "");
  EXPECT_EQ(note({"--forward_only", "--optimizer=momentum", "--momentum=0.5", "--gradient_clip=1"}),
            "without effect: --optimizer (with --forward_only), --momentum (with --forward_only), --gradient_clip "
            "(with --forward_only)");
  for (const std::string flag :
       {"--piecewise_learning_rate_schedule=0.1", "--num_epochs_per_decay=1", "--learning_rate_decay_factor=0.5",
        "--minimum_learning_rate=0.1", "--num_learning_rate_warmup_epochs=1"})
    for (const std::string mode : {"--forward_only", "--eval"}) {
      const std::string text = note({mode, "--init_learning_rate=1", flag});
      for (const std::string& named : {std::string("--init_learning_rate"), flag.substr(0, flag.find('='))})
        EXPECT_NE(text.find(named + " (with " + mode + ")"), std::string::npos) << named << ": " << text;
    }
  EXPECT_EQ(note({"--eval", "--train_dir=t", "--optimizer=momentum", "--momentum=0.5"}),
            "without effect: --optimizer (with --eval), --momentum (with --eval)");
  EXPECT_EQ(note({"--single_l2_loss_op", "--weight_decay=0", "--benchmark_test_id=a"}),
            "without effect: --benchmark_test_id (without --benchmark_log_dir), --single_l2_loss_op (without "
            "--weight_decay)");
  EXPECT_EQ(note({"--num_learning_rate_warmup_epochs=2"}),
            "without effect: --num_learning_rate_warmup_epochs (at the model's own rate)");
  EXPECT_EQ(note({"--num_learning_rate_warmup_epochs=2", "--init_learning_rate=1"}), "");
  EXPECT_EQ(note({"--resnet_base_lr=1", "--model=lenet"}), "without effect: --resnet_base_lr (on lenet)");
  EXPECT_EQ(note({"--resnet_base_lr=1", "--model=resnet50"}), "");
  EXPECT_EQ(note({"--momentum=0.5", "--adam_beta1=0.5", "--rmsprop_decay=0.5", "--optimizer=adam"}),
            "without effect: --momentum (with --optimizer=adam), --rmsprop_decay (with --optimizer=adam)");
  EXPECT_EQ(note({"--all_reduce_spec=xring", "--num_gpus=2"}),
            "without effect: --all_reduce_spec (with --variable_update=parameter_server)");
  EXPECT_EQ(note({"--all_reduce_spec=xring", "--num_gpus=2", "--variable_update=replicated"}), "");
  EXPECT_EQ(note({"--gradient_repacking=2", "--variable_update=replicated"}),
            "without effect: --gradient_repacking (with one device)");
  EXPECT_EQ(note({"--agg_small_grads_max_bytes=9", "--num_gpus=2", "--variable_update=replicated"}),
            "without effect: --agg_small_grads_max_bytes (without --all_reduce_spec)");
  EXPECT_EQ(note({"--save_model_steps=5", "--save_summaries_steps=2"}),
            "without effect: --save_model_steps (without --train_dir), --save_summaries_steps (without --train_dir)");
  EXPECT_EQ(note({"--save_model_steps=5", "--save_summaries_steps=2", "--train_dir=t"}),
            "without effect: --save_summaries_steps (without --summary_verbosity)");
  EXPECT_EQ(note({"--forward_only", "--train_dir=/nowhere"}),
            "without effect: --train_dir (there is no checkpoint in it: weights are first values)");
  EXPECT_EQ(note({"--train_dir=/nowhere"}), "");
  const std::string place = "--local_parameter_device=cpu", two = "--num_gpus=2",
                    replicated = "--variable_update=replicated";
  EXPECT_EQ(note({place, two}), "");
  EXPECT_EQ(note({place, two, replicated}), "");
  EXPECT_EQ(note({place, two, "--forward_only"}), "");
  EXPECT_EQ(note({place, two, "--variable_update=independent"}),
            "without effect: --local_parameter_device (with --variable_update=independent)");
  EXPECT_EQ(note({place, two, replicated, "--all_reduce_spec=xring"}),
            "without effect: --local_parameter_device (with --all_reduce_spec)");
  EXPECT_EQ(note({place, two, replicated, "--hierarchical_copy"}),
            "without effect: --local_parameter_device (with --hierarchical_copy)");
  EXPECT_EQ(note({place, two, replicated, "--forward_only"}),
            "without effect: --local_parameter_device (with --forward_only)");
}

TEST(NoEffectNote, NamesMustersOwnFlagsToo) {
  const auto note = [](const std::vector<std::string>& words) {
    const FlagValues values = ParseFlags(PeerFlags().Plus(OwnFlags()), words);
    return NoEffectNote(ParamsFromFlags(values), OwnParamsFromFlags(values));
  };
  EXPECT_EQ(
      note({"--device=cpu", "--simulated_gpus=2", "--gpu_memory_limit_mb=64", "--gpu_delay_seed=3", "--check_hazards"}),
      "without effect: --simulated_gpus (on a CPU), --gpu_memory_limit_mb (on a CPU), --gpu_delay_seed (on a CPU), "
      "--check_hazards (on a CPU)");
  EXPECT_EQ(note({"--device=cpu", "--visible_device_list=0", "--virtual_gpus_mb=9"}),
            "without effect: --visible_device_list (on a CPU), --virtual_gpus_mb (on a CPU)");
  EXPECT_EQ(
      note({"--device=gpu", "--simulated_gpus=2", "--gpu_memory_limit_mb=64", "--gpu_delay_seed=3", "--check_hazards"}),
      "");
  EXPECT_EQ(note({"--bucket_mb=1", "--gradient_combine=sum", "--batch_norm_statistics=mean"}),
            "without effect: --gradient_combine (with one device), --bucket_mb (with one device), "
            "--batch_norm_statistics (with one device)");
  EXPECT_EQ(note({"--bucket_mb=1", "--num_gpus=2"}),
            "without effect: --bucket_mb (with --variable_update=parameter_server)");
  EXPECT_EQ(note({"--bucket_mb=1", "--gradient_combine=sum", "--batch_norm_statistics=mean", "--num_gpus=2",
                  "--variable_update=replicated"}),
            "");
  EXPECT_EQ(note({"--recompute=auto", "--forward_only"}), "without effect: --recompute (with --forward_only)");
  EXPECT_EQ(note({"--recompute=auto", "--check_nan"}), "");
}

TEST(Supported, AGpuHasSoMuchMemory) {
  BenchParams params;
  params.device = "gpu";
  OwnParams own{.simulated_gpus = 1, .gpu_memory_limit_mb = 99999999};
  try {
    CheckSupported(params, own);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "flag --gpu_memory_limit_mb=99999999: must be at most 16384, the memory of a simulated GPU");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Amounts, Refused,
    ::testing::Values(
        Case{{"--batch_size=-1"}, "flag --batch_size=-1: must be at least 0"},
        Case{{"--batch_size=3000000000"}, "flag --batch_size=3000000000: must be at most 2147483647"},
        Case{{"--num_batches=0"}, "flag --num_batches=0: must be at least 1"},
        Case{{"--num_batches=-5"}, "flag --num_batches=-5: must be at least 1"},
        Case{{"--num_epochs=-1"}, "flag --num_epochs=-1.0: must be greater than 0"},
        Case{{"--num_epochs=inf"}, "flag --num_epochs=inf: must be a finite number"},
        Case{{"--num_warmup_batches=-1"}, "flag --num_warmup_batches=-1: must be at least 0"},
        Case{{"--display_every=0"}, "flag --display_every=0: must be at least 1"},
        Case{{"--num_gpus=0"}, "flag --num_gpus=0: must be at least 1"},
        Case{{"--num_intra_threads=4294967297"}, "flag --num_intra_threads=4294967297: must be at most 4096"},
        Case{{"--autotune_threshold=3000000000"}, "flag --autotune_threshold=3000000000: must be at most 1000"},
        Case{{"--batch_group_size=9223372036854775807"},
             "flag --batch_group_size=9223372036854775807: must be at most 1000000"},
        Case{{"--batch_group_size=0"}, "flag --batch_group_size=0: must be at least 1"},
        Case{{"--num_intra_threads=-1"}, "flag --num_intra_threads=-1: must be at least 0"},
        Case{{"--gpu_thread_mode=x"}, "flag --gpu_thread_mode=x: must be global, gpu_private or gpu_shared"},
        Case{{"--gpu_thread_mode=global", "--per_gpu_thread_count=2"},
             "flag --per_gpu_thread_count=2: has no meaning with --gpu_thread_mode=global"},
        Case{{"--debugger=x"}, "flag --debugger=x: must be cli or host:port"}));

TEST(Checks, RecordsBuiltInCppHaveTheSameBounds) {
  BenchParams params;
  params.display_perf_ewma = 2;
  EXPECT_THROW(CheckParams(params), Error);
  params.display_perf_ewma.reset();
  params.optimizer = "lion";
  EXPECT_THROW(CheckParams(params), Error);
  params.optimizer = "adam";
  EXPECT_NO_THROW(CheckParams(params));
}

TEST(Checks, WhatThePeerAcceptsIsAccepted) {
  EXPECT_EQ(ErrorOf({}), "accepted");
  EXPECT_EQ(ErrorOf({"--num_warmup_batches=0"}), "accepted");
  EXPECT_EQ(ErrorOf({"--init_learning_rate=1", "--num_epochs_per_decay=2", "--learning_rate_decay_factor=.5",
                     "--minimum_learning_rate=.1"}),
            "accepted");
  EXPECT_EQ(ErrorOf({"--variable_update=replicated", "--all_reduce_spec=pscpu#2", "--num_gpus=2"}), "accepted");
  EXPECT_EQ(ErrorOf({"--variable_update=collective_all_reduce", "--all_reduce_spec=collective#2"}), "accepted");
  EXPECT_EQ(ErrorOf({"--forward_only", "--freeze_when_forward_only"}), "accepted");
}

TEST(Checks, NchwOnACpuIsAcceptedUnlikeThePeer) {
  EXPECT_EQ(ErrorOf({"--device=cpu", "--data_format=NCHW"}), "accepted");
}

TEST(Checks, AnEvaluationNeedsAFolder) {
  BenchParams params;
  params.eval = true;
  try {
    CheckEvaluation(params);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "Trained model directory not specified");
  }
  params.train_dir = "x";
  EXPECT_NO_THROW(CheckEvaluation(params));
}

TEST(PeerModels, AnUnknownNameIsToldWhatWasMeantOrWhereItBelongs) {
  const auto end_of_error = [](const char* name, const char* dataset) -> std::string {
    try {
      FindBenchModel(name, dataset);
    } catch (const Error& error) {
      const std::string text = error.what();
      return text.substr(std::min(text.rfind(';'), text.size()));
    }
    return "found";
  };
  EXPECT_EQ(end_of_error("resnet51", "imagenet"), "; did you mean resnet50?");
  EXPECT_EQ(end_of_error("lenet5", "imagenet"), "; did you mean lenet?");
  EXPECT_EQ(end_of_error("resnet20", "imagenet"), "; resnet20 belongs to --data_name=cifar10");
  EXPECT_EQ(end_of_error("vgg16", "cifar10"), "; vgg16 belongs to --data_name=imagenet");
  EXPECT_EQ(end_of_error("none", "imagenet"), "");
}

TEST(AllReduceSpec, LimitsArePowersOf1024) {
  const std::vector<AllReduceRange> ranges = ParseAllReduceSpec("pscpu#4:2k:nccl/xring:3M:xring#2");
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].algorithm, "pscpu");
  EXPECT_EQ(ranges[0].shards, 4);
  EXPECT_EQ(ranges[0].limit, 2 * 1024);
  EXPECT_EQ(ranges[1].algorithm, "nccl/xring");
  EXPECT_EQ(ranges[1].limit, 3 * 1024 * 1024);
  EXPECT_EQ(ranges[2].shards, 2);
  EXPECT_EQ(ranges[2].limit, -1);
}

}  // namespace
}  // namespace muster::bench
