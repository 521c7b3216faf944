#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/machine.h"

namespace muster::bench {

// The parameters of a benchmark: one member for each flag of tf_cnn_benchmarks, with its name, type and default (only
// "device" defaults to what this machine has). A library user fills the members in and hands the record to Run, which
// makes the same checks as for a command line; from then on it is only passed as const. An unset optional means the
// same as a flag that was not given. What each parameter does is said once, in the table of flags_*.cc.
struct BenchParams {
  // What to run.
  std::string model = "trivial";
  bool eval = false;
  int64_t eval_interval_secs = 0;
  std::optional<int64_t> eval_during_training_every_n_steps;
  std::optional<double> eval_during_training_every_n_epochs;
  std::vector<std::string> eval_during_training_at_specified_steps;
  std::vector<std::string> eval_during_training_at_specified_epochs;
  bool forward_only = false;
  bool freeze_when_forward_only = false;
  bool print_training_accuracy = false;
  std::optional<double> stop_at_top_1_accuracy;
  bool collect_eval_results_async = false;
  std::optional<std::string> backbone_model_path;
  std::string trt_mode;
  int64_t trt_max_workspace_size_bytes = 4294967296;

  // Amount of work and display.
  int64_t batch_size = 0;
  int64_t eval_batch_size = 0;
  int64_t batch_group_size = 1;
  std::optional<int64_t> num_batches;
  std::optional<int64_t> num_eval_batches;
  std::optional<double> num_epochs;
  std::optional<double> num_eval_epochs;
  std::optional<int64_t> num_warmup_batches;
  std::optional<int64_t> autotune_threshold;
  int64_t display_every = 10;
  std::optional<double> display_perf_ewma;
  std::optional<std::string> benchmark_log_dir;
  std::optional<std::string> benchmark_test_id;
  bool ml_perf_compliance_logging = false;

  // Devices, threads, memory.
  std::string device = DefaultDevice();
  int64_t num_gpus = 1;
  std::string gpu_indices;
  std::string local_parameter_device = "gpu";
  std::string data_format = "NCHW";
  std::optional<int64_t> num_intra_threads;
  int64_t num_inter_threads = 0;
  std::string gpu_thread_mode = "gpu_private";
  int64_t per_gpu_thread_count = 0;
  bool use_numa_affinity = false;
  std::optional<bool> allow_growth;
  double gpu_memory_frac_for_testing = 0.0;
  std::optional<bool> use_unified_memory;
  bool force_gpu_compatible = false;
  bool timestamped_allocator = false;
  int64_t gpu_kt_max_interval = 0;
  int64_t gpu_kt_max_bytes = 0;
  int64_t gpu_kt_max_pending = 0;
  bool sync_on_finish = false;
  bool winograd_nonfused = true;
  bool batchnorm_persistent = true;
  bool mkl = false;
  int64_t kmp_blocktime = 0;
  std::string kmp_affinity = "granularity=fine,verbose,compact,1,0";
  int64_t kmp_settings = 1;
  bool xla = false;
  bool xla_compile = false;
  bool enable_optimizations = true;
  std::optional<std::string> rewriter_config;
  bool use_tf_layers = true;
  bool use_resource_vars = false;
  std::optional<std::string> debugger;
  bool use_python32_barrier = false;

  // Data.
  std::optional<std::string> data_dir;
  std::optional<std::string> data_name;
  std::string resize_method = "bilinear";
  bool distortions = false;
  bool distort_color_in_yiq = true;
  bool fuse_decode_and_crop = true;
  std::string input_preprocessor = "default";
  bool ml_perf = false;
  bool use_datasets = true;
  bool datasets_use_prefetch = true;
  int64_t datasets_prefetch_buffer_size = 1;
  std::optional<int64_t> datasets_num_private_threads;
  bool datasets_use_caching = false;
  bool datasets_repeat_cached_sample = false;
  std::optional<int64_t> datasets_parallel_interleave_cycle_length;
  bool datasets_sloppy_parallel_interleave = false;
  std::optional<int64_t> datasets_parallel_interleave_prefetch;
  int64_t multi_device_iterator_max_buffer_size = 1;

  // Optimisation.
  std::string optimizer = "sgd";
  std::optional<double> init_learning_rate;
  std::optional<std::string> piecewise_learning_rate_schedule;
  double num_epochs_per_decay = 0.0;
  double learning_rate_decay_factor = 0.0;
  double minimum_learning_rate = 0.0;
  double num_learning_rate_warmup_epochs = 0.0;
  std::optional<double> resnet_base_lr;
  double momentum = 0.9;
  double rmsprop_decay = 0.9;
  double rmsprop_momentum = 0.9;
  double rmsprop_epsilon = 1.0;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-08;
  std::optional<double> gradient_clip;
  double weight_decay = 4e-05;
  std::string loss_type_to_report = "total_loss";
  bool single_l2_loss_op = false;
  bool compute_lr_on_cpu = false;
  bool sparse_to_dense_grads = false;
  int64_t tf_random_seed = 1234;
  bool use_fp16 = false;
  std::optional<double> fp16_loss_scale;
  bool fp16_enable_auto_loss_scale = false;
  int64_t fp16_inc_loss_scale_every_n = 1000;
  bool fp16_vars = false;

  // Gradient exchange and clusters.
  std::string variable_update = "parameter_server";
  std::optional<std::string> all_reduce_spec;
  int64_t gradient_repacking = 0;
  bool compact_gradient_transfer = true;
  std::string variable_consistency = "strong";
  bool hierarchical_copy = false;
  std::string network_topology = "dgx1";
  int64_t agg_small_grads_max_bytes = 0;
  int64_t agg_small_grads_max_group = 10;
  int64_t allreduce_merge_scope = 1;
  bool staged_vars = false;
  std::string job_name;
  int64_t task_index = 0;
  std::string ps_hosts;
  std::string worker_hosts;
  std::optional<std::string> controller_host;
  std::string server_protocol = "grpc";
  bool cross_replica_sync = true;
  std::string horovod_device;

  // Files.
  std::optional<std::string> train_dir;
  std::string eval_dir = "/tmp/tf_cnn_benchmarks/eval";
  int64_t save_model_secs = 0;
  std::optional<int64_t> save_model_steps;
  int64_t max_ckpts_to_keep = 5;
  int64_t summary_verbosity = 0;
  int64_t save_summaries_steps = 0;
  std::string trace_file;
  bool use_chrome_trace_format = true;
  std::optional<std::string> tfprof_file;
  std::optional<std::string> graph_file;
  std::optional<std::string> partitioned_graph_file_prefix;

  friend bool operator==(const BenchParams&, const BenchParams&) = default;
};

// What only Muster has.
struct OwnParams {
  std::optional<std::string> json;        // result file
  std::optional<bool> check_nan;          // unset: see NanStops in loop.h
  std::string gradient_combine = "mean";  // of the towers' gradients: mean or sum
  int64_t bucket_mb = 25;                 // of gradients exchanged together; 0: each by itself
  std::string batch_norm_statistics =
      "first_tower";                 // whose batches move running averages: first_tower, mean, synchronised
  bool use_bf16 = false;             // activations in bfloat16
  std::string recompute = "none";    // auto: activations are computed again in the backward pass if they do not fit
  int64_t host_memory_limit_mb = 0;  // memory of the host to stay within; 0: what is free
  int64_t simulated_gpus = 0;        // GPUs on host memory that --device=gpu can take
  int64_t gpu_memory_limit_mb = 0;   // of each GPU; 0: all of its memory
  std::string visible_device_list;   // cards to use, in the order in which they are numbered: "1,0"; empty: all
  std::string virtual_gpus_mb;       // devices into which cards are split: "512+512,1024"
  bool allow_soft_placement = true;  // an operation whose device cannot have it goes to another one of its task
  int64_t gpu_delay_seed = 0;        // random delays of simulated GPUs; 0: none
  bool check_hazards = false;        // simulated GPUs check the order of accesses to memory
  std::optional<std::string> dump_passes;  // folder that gets the graph before and after each compiler pass
  bool log_device_placement = false;       // a line on standard error for each operation

  friend bool operator==(const OwnParams&, const OwnParams&) = default;
};

}  // namespace muster::bench
