#include "bench/param_table.h"

namespace muster::bench {

// What runs, for how long, where: sections 1.1 to 1.3 of the peer's flags, in its order within a group.
void AddRunParams(ParamTable& table) {
  using P = BenchParams;
  table.Group("What to run");
  table.Add("model", &P::model, "network to run; an unknown name lists those there are").Important();
  table.Add("eval", &P::eval, "score a checkpoint on the validation images instead of training");
  table.Add("eval_interval_secs", &P::eval_interval_secs,
            "seconds between rounds of evaluating the newest checkpoint; 0: one round");
  table
      .Add("eval_during_training_every_n_steps", &P::eval_during_training_every_n_steps,
           "pause training every N steps to evaluate")
      .AtLeast(1);
  table.Add("eval_during_training_every_n_epochs", &P::eval_during_training_every_n_epochs,
            "pause training every X epochs to evaluate");
  table.Add("eval_during_training_at_specified_steps", &P::eval_during_training_at_specified_steps,
            "training pauses after these steps to evaluate");
  table.Add("eval_during_training_at_specified_epochs", &P::eval_during_training_at_specified_epochs,
            "training pauses after these epochs to evaluate");
  table.Add("forward_only", &P::forward_only, "inference only: no gradients, no update").Important();
  table.Add("freeze_when_forward_only", &P::freeze_when_forward_only,
            "with --forward_only: weights become constants of the graph");
  table
      .Add("print_training_accuracy", &P::print_training_accuracy,
           "also show top-1 and top-5 accuracy of the training batch")
      .Important();
  table.Add("stop_at_top_1_accuracy", &P::stop_at_top_1_accuracy,
            "end training once an evaluation during training reaches this accuracy");
  table.Add("collect_eval_results_async", &P::collect_eval_results_async,
            "ssd300: score detections in another process");
  table.Add("backbone_model_path", &P::backbone_model_path, "ssd300: trained backbone to start from");
  table.Add("trt_mode", &P::trt_mode, "run the frozen graph through TensorRT in this precision")
      .OneOf({"", "FP32", "FP16", "INT8"});
  table.Add("trt_max_workspace_size_bytes", &P::trt_max_workspace_size_bytes, "limit of TensorRT's workspace");
  table.Group("Amount of work and display");
  table.Add("batch_size", &P::batch_size, "images per device and step; 0: the model's own").Important();
  table.Add("eval_batch_size", &P::eval_batch_size, "images per device and step of an evaluation; 0: as in training");
  table.Add("batch_group_size", &P::batch_group_size, "batches that the input producer makes at a time");
  table.Add("num_batches", &P::num_batches, "timed steps after the warm-up; 100 unless --num_epochs says").Important();
  table.Add("num_eval_batches", &P::num_eval_batches, "steps of an evaluation; as in training when unset");
  table.Add("num_epochs", &P::num_epochs, "timed epochs, instead of --num_batches").Important();
  table.Add("num_eval_epochs", &P::num_eval_epochs, "epochs of an evaluation, instead of --num_eval_batches");
  table
      .Add("num_warmup_batches", &P::num_warmup_batches,
           "untimed steps first; unset: max(10, 5 t^2), t: --autotune_threshold")
      .Important();
  table.Add("autotune_threshold", &P::autotune_threshold, "cuDNN tuning repetitions; lengthens the default warm-up");
  table.Add("display_every", &P::display_every, "steps between two printed lines").Important();
  table
      .Add("display_perf_ewma", &P::display_perf_ewma,
           "show an exponentially weighted mean of the step times, with this weight")
      .AtLeast(0)
      .AtMost(1);
  table.Add("benchmark_log_dir", &P::benchmark_log_dir,
            "folder that gets benchmark_run.log and metric.log (JSON lines)");
  table.Add("benchmark_test_id", &P::benchmark_test_id, "name of the run in benchmark_run.log");
  table.Add("ml_perf_compliance_logging", &P::ml_perf_compliance_logging, "MLPerf log lines");
  table.Group("Devices, threads, memory");
  table.Add("device", &P::device, "where the model computes; the default is what this machine has")
      .OneOf({"cpu", "gpu", "CPU", "GPU"});
  table.Add("num_gpus", &P::num_gpus, "number of devices of this process");
  table.Add("gpu_indices", &P::gpu_indices, "order of the local GPUs in ring all-reduce");
  table.Add("local_parameter_device", &P::local_parameter_device, "where shared variables live")
      .OneOf({"cpu", "gpu", "CPU", "GPU"});
  table.Add("data_format", &P::data_format, "layout of images and activations; computed in NHWC")
      .OneOf({"NHWC", "NCHW"})
      .Important();
  table.Add("num_intra_threads", &P::num_intra_threads, "threads within an operation; all cores when unset or 0")
      .Important();
  table.Add("num_inter_threads", &P::num_inter_threads, "operations that run at a time; 0: automatic");
  table.Add("gpu_thread_mode", &P::gpu_thread_mode,
            "host threads that launch GPU work: global, gpu_private or gpu_shared");
  table.Add("per_gpu_thread_count", &P::per_gpu_thread_count, "number of those threads; 0: two");
  table.Add("use_numa_affinity", &P::use_numa_affinity, "bind CPU devices to NUMA nodes");
  table.Add("allow_growth", &P::allow_growth, "let GPU memory grow on demand");
  table.Add("gpu_memory_frac_for_testing", &P::gpu_memory_frac_for_testing, "share of GPU memory to use; 0: no limit")
      .AtLeast(0);
  table.Add("use_unified_memory", &P::use_unified_memory, "managed GPU memory, to use more than there is");
  table.Add("force_gpu_compatible", &P::force_gpu_compatible, "all host tensors in pinned memory");
  table.Add("timestamped_allocator", &P::timestamped_allocator, "experimental GPU allocator");
  table.Add("gpu_kt_max_interval", &P::gpu_kt_max_interval, "limit of the GPU kernel queue");
  table.Add("gpu_kt_max_bytes", &P::gpu_kt_max_bytes, "limit of the GPU kernel queue");
  table.Add("gpu_kt_max_pending", &P::gpu_kt_max_pending, "limit of the GPU kernel queue");
  table.Add("sync_on_finish", &P::sync_on_finish, "wait for the device at the end of each step");
  table.Add("winograd_nonfused", &P::winograd_nonfused, "allow cuDNN's non-fused Winograd convolutions");
  table.Add("batchnorm_persistent", &P::batchnorm_persistent, "cuDNN's persistent batch normalisation");
  table.Add("mkl", &P::mkl, "set the environment of TensorFlow's MKL build");
  table.Add("kmp_blocktime", &P::kmp_blocktime, "--mkl: milliseconds a thread spins before it sleeps");
  table.Add("kmp_affinity", &P::kmp_affinity, "--mkl: binding of threads to cores");
  table.Add("kmp_settings", &P::kmp_settings, "--mkl: print OpenMP settings");
  table.Add("xla", &P::xla, "TensorFlow's just-in-time compiler");
  table.Add("xla_compile", &P::xla_compile, "TensorFlow's explicit compilation of each tower");
  table.Add("enable_optimizations", &P::enable_optimizations, "TensorFlow's graph optimisations");
  table.Add("rewriter_config", &P::rewriter_config, "TensorFlow's rewriter options; printed in the header");
  table.Add("use_tf_layers", &P::use_tf_layers, "which of TensorFlow's two layer libraries builds the model");
  table.Add("use_resource_vars", &P::use_resource_vars, "which of TensorFlow's two kinds of variables");
  table.Add("debugger", &P::debugger, "'cli' or host:port of TensorBoard's debugger");
  table.Add("use_python32_barrier", &P::use_python32_barrier, "which Python barrier");
}

}  // namespace muster::bench
